package io.madeleine.bench.peer;

import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Wire;
import io.madeleine.pmm.WaitMode;

/**
 * How a peer's process waits, in the same steps and for the same times as a session of ours with its defaults: polls
 * for {@value #SPIN_NS} ns, yields {@value #YIELDS} times, then sleeps. The clock is looked at once in a while.
 *
 * <p>Threading: confined to caller.
 */
final class Idling {
    private static final long SPIN_NS = 200_000;
    private static final int YIELDS = 20;
    private static final int TURNS_PER_CLOCK = 64;

    private final WaitMode mode;
    private long sinceNs;
    private int yields;

    /** What to do next. */
    enum Step {
        /** Poll again. */
        POLL,
        /** Let others have the processor, then poll again. */
        YIELD,
        /** Sleep, at most for a second. */
        SLEEP
    }

    Idling(WaitMode mode) {
        this.mode = mode;
    }

    /** What to do after this number of polls without a message, counted from 0. */
    Step next(int turn) {
        if (turn == 0) {
            yields = 0;
            sinceNs = 0;
        }
        if (mode == WaitMode.BLOCK || yields > YIELDS) {
            elapsedNs();
            return Step.SLEEP;
        }
        if (turn % TURNS_PER_CLOCK != TURNS_PER_CLOCK - 1 || elapsedNs() < SPIN_NS || mode == WaitMode.SPIN) {
            Thread.onSpinWait();
            return Step.POLL;
        }
        return ++yields > YIELDS ? Step.SLEEP : Step.YIELD;
    }

    /** Since the first look at the clock; bounds the wait. */
    private long elapsedNs() {
        long nowNs = System.nanoTime();
        if (sinceNs == 0) {
            sinceNs = nowNs;
        }
        if (nowNs - sinceNs > Wire.PATIENCE_NS) {
            throw new MeasuringException(
                    "nothing from the other process for " + Wire.PATIENCE_NS / 1_000_000_000 + " s");
        }
        return nowNs - sinceNs;
    }
}
