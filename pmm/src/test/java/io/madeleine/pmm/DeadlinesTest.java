package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
    private static final long LONGEST_NS = Long.MAX_VALUE / 2 - 1;

    @Test
    void shouldBeAsFarAsTheTimeSaysInThePastForNoneAndNowhereForAVeryLongOne() {
        for (long timeoutNs : new long[] {1, 999, 1_000_000_000_000L, LONGEST_NS}) {
            long beforeNs = System.nanoTime();
            long deadlineNs = Deadlines.after(timeoutNs, TimeUnit.NANOSECONDS);
            long afterNs = System.nanoTime();
            assertNotEquals(ProgressEngine.NO_DEADLINE, deadlineNs);
            assertTrue(deadlineNs - beforeNs >= timeoutNs && deadlineNs - afterNs <= timeoutNs, timeoutNs + " ns");
        }
        for (long none : new long[] {0, -1, Long.MIN_VALUE}) {
            long deadlineNs = Deadlines.after(none, TimeUnit.DAYS);
            assertTrue(deadlineNs != ProgressEngine.NO_DEADLINE && deadlineNs - System.nanoTime() <= 0, none + " days");
        }
        assertEquals(ProgressEngine.NO_DEADLINE, Deadlines.after(LONGEST_NS + 1, TimeUnit.NANOSECONDS));
        assertEquals(ProgressEngine.NO_DEADLINE, Deadlines.after(Long.MAX_VALUE, TimeUnit.DAYS));
        assertTrue(Deadlines.after(2, TimeUnit.HOURS) - System.nanoTime() > TimeUnit.HOURS.toNanos(1));
    }
}
