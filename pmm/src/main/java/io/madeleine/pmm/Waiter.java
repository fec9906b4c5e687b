package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * A thread that waits without polling: parked, or asleep in the reactor as leader.
 *
 * <p>Threading: {@code signalled} is the hand-over; {@code chosen} is written under the wait list's lock; the rest is
 * immutable.
 */
final class Waiter {
    final @Nullable Thread thread;
    final boolean mayLead;
    final boolean leads;
    final WaiterQueue.Place atWaitable = new WaiterQueue.Place(this);
    final WaiterQueue.Place amongFollowers = new WaiterQueue.Place(this);

    /** It has been told of a change, and will look. */
    volatile boolean signalled;

    /** It alone has been told, and stands no longer in the queue of what it waits for. */
    volatile boolean chosen;

    private Waiter(@Nullable Thread thread, boolean mayLead) {
        this.thread = thread;
        this.mayLead = mayLead;
        this.leads = thread == null;
    }

    /** Whoever leads, asleep in the reactor; one object serves all leaders of an engine. */
    static Waiter leader() {
        return new Waiter(null, true);
    }

    /** A thread that is about to park. */
    static Waiter follower(Thread thread, boolean mayLead) {
        return new Waiter(thread, mayLead);
    }
}
