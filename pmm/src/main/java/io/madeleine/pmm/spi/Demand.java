package io.madeleine.pmm.spi;

/**
 * An adapter's demand for progress while no thread waits: it has packets to retransmit, completions outstanding, or a
 * timer. While the demand is held, the engine drives the adapter's {@link ProgressSource} even if no thread of the user
 * waits and no handler is registered: events of the source end the engine's sleep, and the engine polls the source when
 * its deadline comes. No thread spins for a demand; the session's own thread sleeps.
 *
 * <p>Every poll serves deadlines too: in each poll the source compares its deadlines with the time that it is given.
 * Work that only concerns the source itself, such as a retransmission, does not count as an event of {@link
 * ProgressSource#poll}: an event keeps the engine polling for a while.
 *
 * <p>Holding a demand that is not held may have to wake a thread, which takes a few microseconds. Hold it for a whole
 * conversation, not for each packet.
 *
 * <p>Threading: thread-safe; the calls allocate nothing and never wait. If several threads set deadlines, the adapter
 * orders them.
 */
public interface Demand extends AutoCloseable {
    /** No deadline. */
    long NONE = Long.MAX_VALUE;

    /** Something is outstanding. Call {@link #release()} once for each call. */
    void hold();

    /**
     * Undoes one {@link #hold()}.
     *
     * @throws IllegalStateException if no hold is left to release
     */
    void release();

    /**
     * Sets the time at which the engine polls the source next; it replaces the previous one and counts only while the
     * demand is held. A time in the past means at once. The first poll after it clears the deadline, and the source
     * sets the next one in that poll if it needs one. The engine polls a source that keeps setting past times every 100
     * microseconds.
     *
     * @param deadlineNs in {@link System#nanoTime()} terms, or {@link #NONE}
     */
    void dueAt(long deadlineNs);

    /**
     * A thread polls the adapter without the lead. While threads do so for all demands that are held, and nothing else
     * needs a leader, the session's own thread polls only now and then: on the same processor it would get in their
     * way. A lost count does no harm.
     */
    default void polledAside() {
        // for a demand that no thread acts on
    }

    /** Drops the demand and whatever is outstanding; it cannot be held again. Idempotent. */
    @Override
    void close();

    /** A demand without effect, for an adapter that is polled all the time. */
    static Demand noop() {
        return Unheard.INSTANCE;
    }

    /** A demand without effect. */
    final class Unheard implements Demand {
        private static final Unheard INSTANCE = new Unheard();

        private Unheard() {}

        @Override
        public void hold() {
            // the adapter is polled anyway
        }

        @Override
        public void release() {
            // as above
        }

        @Override
        public void dueAt(long deadlineNs) {
            // as above
        }

        @Override
        public void close() {
            // as above
        }
    }
}
