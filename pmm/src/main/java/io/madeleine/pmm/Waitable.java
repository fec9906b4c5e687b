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

    /** Something nobody waits for yet. How its waiters wait is left to others that wait beside them. */
    public Waitable() {
        hint = null;
    }

    /** Something nobody waits for yet, and what counts for those who will. */
    public Waitable(WaitHint hint) {
        this.hint = hint;
    }
}
