package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SignsOfLifeTest {
    private static final long MS = 1_000_000;
    private static final long BEGAN_NS = Long.MAX_VALUE - 1_000 * MS; // the clock may overflow meanwhile

    private final SignsOfLife signs = new SignsOfLife(3_000 * MS, BEGAN_NS);

    /**
     * Gives signs to the other end, each just before one of that end is due: so each of those would be put off until
     * the next. Time-out of the other end: 900 ms, three signs.
     */
    static void assertGivesSignsInTime(ControlConnection toTheOtherEnd) throws Exception {
        AtomicInteger signs = new AtomicInteger();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (toTheOtherEnd.receive().orElseThrow() instanceof ControlMessage.Heartbeat) {
                    signs.incrementAndGet();
                }
            } catch (IOException _) {
                // the end of the test
            }
        });
        for (int i = 0; i < 8; i++) {
            toTheOtherEnd.send(new ControlMessage.Heartbeat());
            Thread.sleep(270);
        }
        assertTrue(signs.get() >= 6, signs + " signs in " + 8 * 270 + " ms");
    }

    private static long at(long ms) {
        return BEGAN_NS + ms * MS;
    }

    @Test
    void shouldGiveThreeSignsInTheTimeOutAndLookTwiceAsOften() {
        assertEquals(500, signs.waitMs());
        assertEquals(500 * MS, signs.dueAfterNs());
        assertEquals(10, new SignsOfLife(1, 0).waitMs());
        assertEquals(Integer.MAX_VALUE, new SignsOfLife(Long.MAX_VALUE, 0).waitMs());
    }

    @Test
    void shouldMissThemOnceTheTimeOutIsOver() {
        assertFalse(signs.areMissing(at(3_000)));
        assertTrue(signs.areMissing(at(3_001)));
        signs.heard(at(3_001));
        assertFalse(signs.areMissing(at(6_001)));
        assertTrue(signs.areMissing(at(6_002)));
        assertEquals("it gave no sign for 3 s (madeleine.peer-timeout)", signs.whatIsMissing(at(6_002)));
    }

    @Test
    void shouldNotTakeAPauseOfThisProcessForSilence() {
        signs.heardNothing(at(0), at(500));
        signs.heardNothing(at(500), at(11_000)); // 10 s too long
        assertFalse(signs.areMissing(at(13_000)));
        signs.heardNothing(at(11_000), at(11_400)); // an interrupted wait takes nothing back
        assertTrue(signs.areMissing(at(13_001)));
    }
}
