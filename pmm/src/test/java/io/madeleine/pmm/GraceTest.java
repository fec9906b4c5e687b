package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class GraceTest {
    private long nowNs = Long.MAX_VALUE - 1_000; // the clock passes its largest value
    private final Grace grace = new Grace(nowNs);

    private void pass(int polls) {
        long elapsedNs = grace.lengthNs();
        nowNs += elapsedNs;
        grace.hasPassed(polls, false, nowNs, elapsedNs);
    }

    private void passOften() {
        pass((int) (grace.lengthNs() / Grace.SHORTEST_NS) + 1);
    }

    @Test
    void shouldBeLongerAndLongerWhileThreadsPollOften() {
        assertFalse(grace.isLong());
        for (long expectedNs = Grace.SHORTEST_NS; expectedNs < Grace.LONGEST_NS; expectedNs *= 2) {
            assertEquals(expectedNs, grace.lengthNs());
            passOften();
            assertTrue(grace.isLong());
        }
        for (int i = 0; i < 3; i++) {
            assertEquals(Grace.LONGEST_NS, grace.lengthNs());
            passOften();
        }
    }

    @Test
    void shouldBeLongerWhileAThreadIsFoundPolling() {
        grace.hasPassed(0, true, nowNs, 10 * Grace.LONGEST_NS);
        assertEquals(2 * Grace.SHORTEST_NS, grace.lengthNs());
    }

    @Test
    void shouldBeShortAsSoonAsThreadsPollRarely() {
        for (int i = 0; i < 10; i++) {
            passOften();
        }
        pass((int) (Grace.LONGEST_NS / Grace.SHORTEST_NS));
        assertEquals(Grace.SHORTEST_NS, grace.lengthNs());
        pass(1);
        assertEquals(Grace.SHORTEST_NS, grace.lengthNs());
    }

    @Test
    void shouldStayShortForAWhileAfterOneInWhichWorkWasLeftUndone() {
        for (int i = 0; i < 10; i++) {
            passOften();
        }
        grace.wasMissed(nowNs);
        long missedNs = nowNs;
        while (nowNs - missedNs < Grace.AFTER_A_MISS_NS) {
            assertEquals(Grace.SHORTEST_NS, grace.lengthNs());
            passOften();
        }
        assertTrue(grace.isLong());
    }
}
