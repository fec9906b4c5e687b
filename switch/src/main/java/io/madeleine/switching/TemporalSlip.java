package io.madeleine.switching;

/**
 * Keeps the receiver of a dense one-way stream behind its sender. A receiver that has caught up reads the cache line
 * that the sender is about to write. The line then crosses between their processors for each message, and both run at
 * that pace. A pause lets several messages arrive together. (Temporal slipping: Giacomoni, Moseley and Vachharajani,
 * "FastForward for Efficient Pipeline Parallelism", PPoPP 2008.)
 *
 * <p>A stream is dense if the receiver finds each next message within a few polls and sends nothing meanwhile.
 * Processes that answer each other never pause.
 *
 * <p>Threading: any thread; concurrent calls may lose a count, which costs or saves a pause.
 */
final class TemporalSlip {
    /** A message that is found within this many polls was written while the receiver polled. */
    static final int SOON_POLLS = 4;

    /** A stream is dense after this many messages that were found soon. */
    static final int DENSE_COUNT = 16;

    /** Longer than the messages of two cache lines take to write; about as long as one message takes to cross. */
    private static final long PAUSE_NS = 200;

    private int soonCount;
    private long sentCount;

    /**
     * The receiver has found no message: pauses if it has caught up with a dense stream. Returns whether it has paused.
     *
     * @param sent how many messages this process has sent on the connection
     */
    boolean pausesIfCaughtUp(long sent) {
        if (sent != sentCount) {
            sentCount = sent;
            soonCount = 0;
            return false;
        }
        if (soonCount < DENSE_COUNT) {
            return false;
        }
        long untilNs = System.nanoTime() + PAUSE_NS;
        while (System.nanoTime() - untilNs < 0) {
            Thread.onSpinWait();
        }
        return true;
    }

    /** Counts how soon messages are found: {@code polls} is the number of polls since {@link #pausesIfCaughtUp}. */
    void looked(boolean found, int polls) {
        soonCount = found && polls <= SOON_POLLS ? Math.min(soonCount + 1, DENSE_COUNT) : 0;
    }
}
