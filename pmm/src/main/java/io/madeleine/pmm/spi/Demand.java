package io.madeleine.pmm.spi;

/**
 * What an adapter has that must go on though nobody waits: packets to send again, completions to come, a timer. While it is held,
 * the adapter's {@link ProgressSource} is driven: its news end the engine's sleep, and it is polled when its deadline comes, also where no
 * thread of the user waits and no handler is registered. Nobody spins for that: the session's own thread sleeps.
 *
 * <p>Whoever polls, for whatever reason, keeps deadlines as well: a source looks in each poll at what is due, by the time it is given.
 * Work that it does then for itself alone, such as to send again, is no event to be counted by {@link ProgressSource#poll}: after an event
 * the engine looks for more for a while.
 *
 * <p>To hold what nobody held may have to wake a thread, which takes some microseconds: hold it for as long as a conversation
 * lasts, and not for each packet.
 *
 * <p>Threading: any thread; nothing is allocated, nobody waits. Who names deadlines in several threads sees to their order.
 */
public interface Demand extends AutoCloseable {
    /** No deadline. */
    long NONE = Long.MAX_VALUE;

    /** Something is outstanding; to be released as often as it is held. */
    void hold();

    /**
     * It is outstanding no more.
     *
     * @throws IllegalStateException if it has been released as often as it was held
     */
    void release();

    /**
     * Names the time by which the source is to be polled again, in place of the one named before; it counts while the demand is
     * held. A time that has passed means at once. Each is kept by one poll: the source names the next one then, or is polled
     * for this reason no more. One that always names what has passed is polled every tenth of a millisecond.
     *
     * @param deadlineNs in {@link System#nanoTime()} terms, or {@link #NONE}
     */
    void dueAt(long deadlineNs);

    /** It is never held again; whatever was outstanding is given up. Idempotent. */
    @Override
    void close();

    /** One that nobody hears, for an adapter that is polled by hand all the time. */
    static Demand unheard() {
        return Unheard.INSTANCE;
    }

    /** Does nothing. */
    final class Unheard implements Demand {
        private static final Unheard INSTANCE = new Unheard();

        private Unheard() {}

        @Override
        public void hold() {
            // who polls all the time need not know
        }

        @Override
        public void release() {
            // the same
        }

        @Override
        public void dueAt(long deadlineNs) {
            // the same
        }

        @Override
        public void close() {
            // the same
        }
    }
}
