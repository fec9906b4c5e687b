package io.madeleine.pmm;

import java.util.function.LongSupplier;

/**
 * Whether a processor is spare for a thread that polls. A yield that takes long says that a thread which computes has
 * taken the processor, and that this one had to wait for its next turn. Beside such threads polling does harm: the
 * system counts the polls as this thread's share of the processor, and each yield as a whole turn, and lets it wait for
 * milliseconds when there is something to do. A thread that sleeps instead gets the processor as soon as it is woken.
 *
 * <p>After a long yield no processor is spare for a while; the longer, the more often this has been so.
 *
 * <p>Threading: confined to the leader.
 */
class SpareProcessor {
    /** Threads that poll yield after some microseconds, so a yield between them is shorter. */
    static final long LONG_YIELD_NS = 500_000;

    /** How long no processor is spare after one long yield: a few times what that yield may have cost. */
    static final long SHORTEST_NS = 10_000_000;

    static final long LONGEST_NS = 160_000_000;

    private final Runnable yielding;
    private final LongSupplier clock;
    private long takenUntilNs;
    private long takenForNs;

    SpareProcessor() {
        this(Thread::yield, System::nanoTime);
    }

    /** That of a session which waits like this. */
    static SpareProcessor of(WaitPolicy policy) {
        return policy.crowded() ? new CrowdedProcessor() : new SpareProcessor();
    }

    /** For tests. */
    SpareProcessor(Runnable yielding, LongSupplier clock) {
        this.yielding = yielding;
        this.clock = clock;
        this.takenUntilNs = clock.getAsLong();
    }

    /** Whether polling does no harm, as far as is known. */
    final boolean isSpare(long nowNs) {
        return nowNs - takenUntilNs >= 0;
    }

    /** No processor is spare until then. */
    final void setTaken(long untilNs) {
        takenUntilNs = untilNs;
    }

    /**
     * Lets other threads have the processor, and notes whether one of them has needed it for long. Returns the time
     * afterwards.
     */
    final long leaveForAMoment() {
        long beforeNs = clock.getAsLong();
        yielding.run();
        long nowNs = clock.getAsLong();
        noteYield(nowNs - beforeNs >= LONG_YIELD_NS, beforeNs, nowNs);
        return nowNs;
    }

    /** A yield has taken from one time to the other. */
    void noteYield(boolean isLong, long beforeNs, long nowNs) {
        if (isLong) {
            boolean again = takenForNs > 0 && beforeNs - takenUntilNs < takenForNs;
            takenForNs = again ? Math.min(2 * takenForNs, LONGEST_NS) : SHORTEST_NS;
            setTaken(nowNs + takenForNs);
        }
    }
}
