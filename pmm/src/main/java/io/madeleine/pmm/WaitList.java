package io.madeleine.pmm;

import io.madeleine.pmm.spi.Reactor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Who waits without polling, and on what: parked followers, and the leader while it sleeps.
 *
 * <p>Threading: thread-safe. The lock is taken only where somebody waits, or begins or ceases to.
 */
final class WaitList {
    private final Reactor reactor;
    private final SpinLock lock = new SpinLock();
    private final List<Waiter> followers = new ArrayList<>();
    private volatile int leadSeekers;

    WaitList(Reactor reactor) {
        this.reactor = reactor;
    }

    /** How many parked threads could lead. */
    int leadSeekers() {
        return leadSeekers;
    }

    void register(Waitable on, Waiter waiter) {
        lock.lock();
        try {
            on.waiters.add(waiter);
            on.waiterCount = on.waiters.size();
        } finally {
            lock.unlock();
        }
    }

    void unregister(Waitable on, Waiter waiter) {
        lock.lock();
        try {
            on.waiters.remove(waiter);
            on.waiterCount = on.waiters.size();
        } finally {
            lock.unlock();
        }
    }

    void enlist(Waiter follower) {
        lock.lock();
        try {
            followers.add(follower);
            if (follower.mayLead) {
                leadSeekers++;
            }
        } finally {
            lock.unlock();
        }
    }

    void delist(Waiter follower) {
        lock.lock();
        try {
            followers.remove(follower);
            if (follower.mayLead) {
                leadSeekers--;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Tells all who wait on {@code on} to look again. */
    void signal(Waitable on) {
        lock.lock();
        try {
            for (int i = 0; i < on.waiters.size(); i++) {
                Waiter waiter = on.waiters.get(i);
                waiter.signalled = true;
                if (waiter.leads) {
                    reactor.wakeUp();
                } else {
                    LockSupport.unpark(waiter.thread);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Wakes one follower that could lead; those who are about to leave do not count. */
    void offerLead() {
        lock.lock();
        try {
            for (Waiter follower : followers) {
                if (follower.mayLead && !follower.signalled) {
                    LockSupport.unpark(follower.thread);
                    return;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lets every follower look again. */
    void wakeAll() {
        lock.lock();
        try {
            followers.forEach(follower -> LockSupport.unpark(follower.thread));
        } finally {
            lock.unlock();
        }
    }
}
