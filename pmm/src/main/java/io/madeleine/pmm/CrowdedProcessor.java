package io.madeleine.pmm;

import java.util.function.LongSupplier;

/**
 * {@link SpareProcessor} where the processes of the session outnumber the processors. There a long yield now and then
 * tells nothing: another process of the session computes, or its JVM compiles. If one process then slept while the
 * others yield, the system would let it go before them, their yields would become long, too, and all would sleep and
 * wake each other for good. So a processor counts as taken only when long yields have outnumbered short ones by {@link
 * #MOST_LONG}, as they soon do beside an endless loop. And all processes of the host yield again at the same times,
 * {@link #PERIOD_MS} apart, so that they find short yields if they are alone.
 *
 * <p>Threading: confined to the leader.
 */
final class CrowdedProcessor extends SpareProcessor {
    /** So many more long yields than short ones take the processor; beside endless loops that is less than 0.3 s. */
    static final int MOST_LONG = 64;

    /** The processes of a host yield again at each multiple of this time of day: 2 s. */
    static final long PERIOD_MS = 2_000;

    private final LongSupplier timeOfDay;
    private int longYields;

    CrowdedProcessor() {
        this(Thread::yield, System::nanoTime, System::currentTimeMillis);
    }

    /** For tests. */
    CrowdedProcessor(Runnable yielding, LongSupplier clock, LongSupplier timeOfDay) {
        super(yielding, clock);
        this.timeOfDay = timeOfDay;
    }

    @Override
    void noteYield(boolean isLong, long beforeNs, long nowNs) {
        longYields = Math.max(0, longYields + (isLong ? 1 : -1));
        if (longYields >= MOST_LONG) {
            longYields = MOST_LONG / 2; // the next trial is shorter
            long leftMs = PERIOD_MS - Math.floorMod(timeOfDay.getAsLong(), PERIOD_MS);
            setTaken(nowNs + 1_000_000 * leftMs);
        }
    }
}
