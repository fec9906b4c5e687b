package io.madeleine.pmm;

import java.util.ArrayList;
import java.util.List;

/**
 * Something whose changes threads wait for: a channel's arrivals, a message's end. Whoever changes it calls {@link
 * ProgressEngine#signal}, which costs one volatile read while nobody waits.
 *
 * <p>Threading: thread-safe; the list is guarded by the engine's lock.
 */
public final class Waitable {
    volatile int waiterCount;
    final List<Waiter> waiters = new ArrayList<>(2);

    /** Something nobody waits for yet. */
    public Waitable() {}
}
