package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * A thread that waits without polling: parked, or asleep in the reactor as leader.
 *
 * <p>Threading: {@code signalled} is the hand-over; the rest is immutable.
 */
final class Waiter {
    final @Nullable Thread thread;
    final boolean mayLead;
    final boolean leads;
    volatile boolean signalled;

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
