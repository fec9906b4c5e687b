package io.madeleine.pmm;

/**
 * Something whose changes threads wait for: a channel's arrivals, a message's end. Whoever changes it calls {@link
 * ProgressEngine#signal}, or {@link ProgressEngine#signalOne} if one of those who wait is enough; either costs one volatile
 * read while nobody waits.
 *
 * <p>Threading: thread-safe; the queue is guarded by the engine's lock.
 */
public final class Waitable {
    final WaiterQueue waiters = new WaiterQueue();

    /** Something nobody waits for yet. */
    public Waitable() {}
}
