package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * A thread that waits without polling: parked, or asleep in the reactor as leader. A follower's waiter is reused by one
 * thread after another. This is safe because a spurious wake-up is harmless: a waiter is chosen under the lock and
 * woken without it, and its thread may have left in between.
 *
 * <p>Threading: written under the wait list's lock, except for {@code signalled}, which the waiting thread clears.
 */
final class Waiter {
    final boolean leads;
    final WaiterQueue.Place atWaitable = new WaiterQueue.Place(this);
    final WaiterQueue.Place amongFollowers = new WaiterQueue.Place(this);

    /** The waiting thread; null while this object is kept for reuse. */
    @Nullable
    Thread thread;

    /** Whether the thread could lead. */
    boolean mayLead;

    /** The next waiter that is kept for reuse. */
    @Nullable
    Waiter nextKept;

    /** Whether it has been told of a change and has to check its condition. */
    volatile boolean signalled;

    /** Whether it alone has been told, and is no longer in the queue of its waitable. */
    volatile boolean chosen;

    private Waiter(boolean leads) {
        this.leads = leads;
    }

    /** A waiter for the leader that sleeps in the reactor; one serves all leaders of an engine. */
    static Waiter leader() {
        return new Waiter(true);
    }

    /** A waiter for threads that are about to park. */
    static Waiter follower() {
        return new Waiter(false);
    }
}
