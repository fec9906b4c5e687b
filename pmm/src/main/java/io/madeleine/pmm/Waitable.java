package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * An object for whose changes threads wait, such as a channel's arrivals or a message's end. A thread that changes it
 * calls {@link ProgressEngine#signal}, or {@link ProgressEngine#signalOne} if one waiter is enough. Either costs one
 * volatile read while no thread waits.
 *
 * <p>Threading: thread-safe; the wait list's lock guards the queue.
 */
public final class Waitable {
    final WaiterQueue waiters = new WaiterQueue();
    final @Nullable WaitHint hint;
    final String inHandlers;

    private static final String ELSEWHERE =
            "hand what has to wait to another thread, one of Session.virtualThreads for instance";

    /** An object without a wait hint: its waiters follow the hints of the other waiters. */
    public Waitable() {
        this(null, ELSEWHERE);
    }

    /** An object with this wait hint. */
    public Waitable(WaitHint hint) {
        this(hint, ELSEWHERE);
    }

    /**
     * An object that threads can wait for.
     *
     * @param hint the wait hint; with null its waiters follow the hints of the other waiters
     * @param inHandlers what a handler should do instead of waiting, for error messages
     */
    public Waitable(@Nullable WaitHint hint, String inHandlers) {
        this.hint = hint;
        this.inHandlers = inHandlers;
    }
}
