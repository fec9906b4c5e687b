package io.madeleine.pmm;

/**
 * How long the session's own thread leaves a free lead to the program's threads before it looks again. Each look takes
 * a processor from a thread that polls. So the times get longer while threads begin to poll more often than once in
 * {@link #SHORTEST_NS}, as in a program that sends and waits in turn, and while a look finds one that polls: such a
 * thread sees what arrives sooner than a bell would wake this one. If the program then begins to compute, what arrives
 * for a handler waits for the rest of one such time, which is no longer than the program has polled before.
 *
 * <p>Threading: confined to the session's own thread.
 */
final class Grace {
    static final long SHORTEST_NS = 100_000;
    static final long LONGEST_NS = 32 * SHORTEST_NS;

    /** How long the times stay short after one in which work was left undone. */
    static final long AFTER_A_MISS_NS = 100_000_000;

    private long lengthNs = SHORTEST_NS;
    private long shortUntilNs;

    Grace(long nowNs) {
        shortUntilNs = nowNs;
    }

    /** Whether threads began to poll so often that a thread that leads for them should leave the lead to them. */
    static boolean isOften(int polls, long elapsedNs) {
        return polls > elapsedNs / SHORTEST_NS;
    }

    /** The next time to leave the lead alone, in nanoseconds. */
    long lengthNs() {
        return lengthNs;
    }

    /** Whether the next time is longer than the shortest. */
    boolean isLong() {
        return lengthNs > SHORTEST_NS;
    }

    /**
     * Threads of the program have begun to poll {@code polls} times since the last call, {@code elapsedNs} ago.
     *
     * @param isPolled whether one of them polls now: where processes share a processor, each waits for a long time
     */
    void hasPassed(int polls, boolean isPolled, long nowNs, long elapsedNs) {
        boolean mayGrow = nowNs - shortUntilNs >= 0 && (isPolled || isOften(polls, elapsedNs));
        lengthNs = mayGrow ? Math.min(2 * lengthNs, LONGEST_NS) : SHORTEST_NS;
    }

    /**
     * No thread has polled lately though there was work, such as a send that goes on while its thread waits elsewhere.
     */
    void wasMissed(long nowNs) {
        lengthNs = SHORTEST_NS;
        shortUntilNs = nowNs + AFTER_A_MISS_NS;
    }
}
