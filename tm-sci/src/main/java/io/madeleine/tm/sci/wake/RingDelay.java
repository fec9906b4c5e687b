package io.madeleine.tm.sci.wake;

import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;

/**
 * How long to watch a sleeping peer before ringing for it. The session's own thread of a peer sleeps while the program
 * computes. If the program's thread is about to wait, then within a microsecond it reads what was sent, or takes over
 * from the sleeper. A ring occupies both processors for tens of microseconds: the sender's with a system call, the
 * peer's with a thread that finds nothing left to do. So a sender first watches for some microseconds whether the peer
 * reads or takes over. After {@link #MOST_USELESS} useless delays it watches only now and then: only rings wake a
 * process that only handles messages.
 *
 * <p>Threading: thread-safe; a lost update does no harm.
 */
final class RingDelay {
    /** Some microseconds; about ten times as long as a thread takes to begin to wait. */
    static final int LOOKS = 128;

    /** This many useless delays in a row end the delays. */
    static final int MOST_USELESS = 8;

    /** Of the rings without a delay, one in this many tries a delay again. */
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
