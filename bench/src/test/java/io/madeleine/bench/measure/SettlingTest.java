package io.madeleine.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How long a measurement warms up beyond what was asked for. */
class SettlingTest {
    private long compiledMs = 10;

    private boolean goesOn(Settling settling, long elapsedMs, boolean early) {
        return settling.goesOn(TimeUnit.MILLISECONDS.toNanos(elapsedMs), early);
    }

    @Test
    void shouldGoOnUntilNothingHasBeenCompiledForAWhile() {
        Settling settling = new Settling(TimeUnit.SECONDS.toNanos(3), () -> compiledMs);
        assertTrue(goesOn(settling, 0, true));
        assertTrue(goesOn(settling, 100, false));
        compiledMs = 11;
        assertTrue(goesOn(settling, 350, false));
        assertTrue(goesOn(settling, 600, false));
        assertFalse(goesOn(settling, 651, false));
        assertEquals(551, TimeUnit.NANOSECONDS.toMillis(settling.lateNs()));
    }

    @Test
    void shouldAddNothingWhereTheWarmUpWasLongEnough() {
        Settling settling = new Settling(TimeUnit.SECONDS.toNanos(3), () -> compiledMs);
        assertTrue(goesOn(settling, 0, true));
        assertFalse(goesOn(settling, 400, false));
        assertEquals(0, settling.lateNs());
    }

    @Test
    void shouldEndABriefMeasurementOnceNothingHasBeenCompiledForAQuarterOfItsTime() {
        Settling settling = new Settling(TimeUnit.MILLISECONDS.toNanos(120), () -> compiledMs);
        assertTrue(goesOn(settling, 10, true));
        assertTrue(goesOn(settling, 25, false));
        compiledMs = 11;
        assertTrue(goesOn(settling, 39, false));
        assertTrue(goesOn(settling, 68, false));
        assertFalse(goesOn(settling, 69, false));
    }

    @Test
    void shouldEndThoughThereIsAlwaysMoreToCompile() {
        Settling settling = new Settling(TimeUnit.SECONDS.toNanos(1), () -> compiledMs++);
        assertTrue(goesOn(settling, 100, false));
        assertTrue(goesOn(settling, 1_000, false));
        assertFalse(goesOn(settling, 1_101, false));
    }

    @Test
    void shouldAskNothingOfWhoMayNotSettle() {
        Settling settling = new Settling(0, () -> {
            throw new AssertionError("asked");
        });
        assertTrue(goesOn(settling, 0, true));
        assertFalse(goesOn(settling, 1, false));
    }
}
