package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Timers that are late are not asked so often; punctual ones keep what coalesce-time promises. */
class FlushTimerTest {
    private static final long COALESCE_NS = 20_000;
    private static final int LONG_ENOUGH = 100;

    private final FlushTimer timer = new FlushTimer(COALESCE_NS);

    private void sleepsAreLateBy(long lateNs) {
        for (int i = 0; i < LONG_ENOUGH; i++) {
            timer.slept(COALESCE_NS, COALESCE_NS + lateNs);
        }
    }

    @Test
    void shouldSleepNoLongerThanItShouldWhereTimersArePunctual() {
        assertEquals(COALESCE_NS, timer.patienceNs());
        sleepsAreLateBy(2_000);
        assertEquals(COALESCE_NS, timer.patienceNs());
    }

    @Test
    void shouldSpendLittleOfAProcessorOnTimersThatAreLate() {
        sleepsAreLateBy(30_000);
        assertTrue(timer.patienceNs() > 5 * 30_000, timer.patienceNs() + " ns");
        sleepsAreLateBy(2_000);
        assertEquals(COALESCE_NS, timer.patienceNs(), "it was restless for a while only");
    }

    @Test
    void shouldNotSleepForEverWhereItsProcessorIsTaken() {
        sleepsAreLateBy(1_000_000_000);
        assertTrue(timer.patienceNs() <= 16 * COALESCE_NS, timer.patienceNs() + " ns");
    }

    @Test
    void shouldNotTakeAWakeForASleepThatWasShort() {
        sleepsAreLateBy(30_000);
        long before = timer.patienceNs();
        timer.slept(COALESCE_NS, 0);
        assertEquals(before, timer.patienceNs());
    }
}
