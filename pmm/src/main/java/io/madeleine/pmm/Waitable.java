package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * Something whose changes threads wait for: a channel's arrivals, a message's end. Whoever changes it calls {@link
 * ProgressEngine#signal}, or {@link ProgressEngine#signalOne} if one of those who wait is enough; either costs one volatile
 * read while nobody waits.
 *
 * <p>Threading: thread-safe; the queue is guarded by the engine's lock.
 */
public final class Waitable {
    final WaiterQueue waiters = new WaiterQueue();
    final @Nullable WaitHint hint;
    final String inHandlers;

    private static final String ELSEWHERE =
            "hand what has to wait to another thread, one of Session.virtualThreads for instance";

    /** Something nobody waits for yet. How its waiters wait is left to others that wait beside them. */
    public Waitable() {
        this(null, ELSEWHERE);
    }

    /** Something nobody waits for yet, and what counts for those who will. */
    public Waitable(WaitHint hint) {
        this(hint, ELSEWHERE);
    }

    /**
     * Something nobody waits for yet.
     *
     * @param hint what counts for those who will wait; null leaves that to others that wait beside them
     * @param inHandlers what a handler is to do instead of waiting, for error messages
     */
    public Waitable(@Nullable WaitHint hint, String inHandlers) {
        this.hint = hint;
        this.inHandlers = inHandlers;
    }
}
