package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each refused call is told once, in notices of bounded length, and no more are kept than the bound says. */
class RefusedCallsTest {
    private static final int MOST_KEPT = 1 << 17;
    private static final int MOST_TOLD = 2_000;

    @Test
    void shouldTellEachCallOnceUnderItsReasonAndKeepABoundedNumber() {
        RefusedCalls calls = new RefusedCalls();
        assertFalse(calls.any());
        for (long id = 0; id < MOST_KEPT; id++) {
            assertTrue(calls.add(id, id % 4 == 0 ? "fourth" : "other"));
            assertTrue(calls.any());
        }
        assertFalse(calls.add(-1, "other"), "too many");
        Set<Long> told = new HashSet<>();
        assertEquals(MOST_TOLD, tell(calls, told));
        for (long id = 0; id < MOST_TOLD; id++) {
            assertTrue(calls.add(MOST_KEPT + 1 + 4 * id, "other"), "what was told leaves room");
        }
        assertFalse(calls.add(-1, "other"));
        int notices = 1;
        while (calls.any()) {
            assertTrue(tell(calls, told) > 0);
            notices++;
        }
        assertEquals(MOST_KEPT + MOST_TOLD, told.size());
        int fourths = MOST_KEPT / 4;
        int others = MOST_KEPT - fourths + MOST_TOLD;
        assertEquals(ceil(fourths) + ceil(others), notices, "each notice is as long as it may be");
        assertEquals(List.of(), calls.take().ids());
        assertTrue(calls.add(7, "again") && calls.any());
        assertEquals(new RefusedCalls.Some("again", List.of(7L)), calls.take());
        assertFalse(calls.any());
    }

    private static int ceil(int count) {
        return (count + MOST_TOLD - 1) / MOST_TOLD;
    }

    private static int tell(RefusedCalls calls, Set<Long> told) {
        RefusedCalls.Some some = calls.take();
        assertTrue(some.ids().size() <= MOST_TOLD);
        for (long id : some.ids()) {
            assertTrue(told.add(id), "call " + id + " is told twice");
            assertEquals(id % 4 == 0 && id < MOST_KEPT ? "fourth" : "other", some.why());
        }
        return some.ids().size();
    }
}
