package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * A thread that waits without polling: parked, or asleep in the reactor as leader. A follower's serves one thread after the
 * other: who was picked under the lock and is woken without it may have left, and who is woken for no reason looks and waits
 * on.
 *
 * <p>Threading: written under the wait list's lock, but for {@code signalled}, the hand-over, which the waiting thread takes
 * back.
 */
final class Waiter {
    final boolean leads;
    final WaiterQueue.Place atWaitable = new WaiterQueue.Place(this);
    final WaiterQueue.Place amongFollowers = new WaiterQueue.Place(this);

    /** Who waits; none while this waits to be used again. */
    @Nullable
    Thread thread;

    /** Whether that thread could lead. */
    boolean mayLead;

    /** The next one that waits to be used again. */
    @Nullable
    Waiter nextKept;

    /** It has been told of a change, and will look. */
    volatile boolean signalled;

    /** It alone has been told, and stands no longer in the queue of what it waits for. */
    volatile boolean chosen;

    private Waiter(boolean leads) {
        this.leads = leads;
    }

    /** Whoever leads, asleep in the reactor; one object serves all leaders of an engine. */
    static Waiter leader() {
        return new Waiter(true);
    }

    /** For threads that are about to park. */
    static Waiter follower() {
        return new Waiter(false);
    }
}
