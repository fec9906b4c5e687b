package io.madeleine.tm.sci.wake;

import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;

/**
 * How long to watch a sleeping peer before ringing for it. The session's own thread of a peer sleeps while the program
 * computes. If the program's thread is about to wait, it reads within a microsecond what was sent, or takes over from
 * the sleeper. A ring takes both processors for tens of microseconds: the sender's for a system call, the peer's for a
 * thread that finds nothing left to do. So a sender watches for some microseconds whether the peer does either. After
 * {@link #MOST_USELESS} useless times it watches only now and then: a process that only handles messages wakes up by
 * rings alone.
 *
 * <p>Threading: thread-safe; a lost update does no harm.
 */
final class RingDelay {
    /** Some microseconds; about ten times what a thread takes that begins to wait. */
    static final int LOOKS = 128;

    /** So many useless delays in a row end the delays. */
    static final int MOST_USELESS = 8;

    /** Of rings without a delay, one in so many tries it again. */
    static final int BETWEEN_TRIES = 16;

    private int useless;
    private int immediate;

    /**
     * Watches a peer for a moment.
     *
     * @param isAsleep whether the peer is still in the sleep with this number
     * @param sleep the number
     * @param isAllRead whether the peer has read everything
     * @return whether the peer has to be rung for
     */
    boolean isRingNeeded(LongPredicate isAsleep, long sleep, BooleanSupplier isAllRead) {
        if (isAllRead.getAsBoolean()) {
            return false;
        }
        if (useless >= MOST_USELESS && ++immediate % BETWEEN_TRIES != 0) {
            return true;
        }
        for (int i = 0; i < LOOKS; i++) {
            if (!isAsleep.test(sleep) || isAllRead.getAsBoolean()) {
                useless = 0;
                return false;
            }
            Thread.onSpinWait();
        }
        useless++;
        return true;
    }
}
