package io.madeleine.pmm;

import io.madeleine.pmm.WaiterQueue.Place;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Who waits without polling, and on what: parked followers, and the leader while it sleeps. However many they are, to begin
 * or cease to wait and to tell one takes constant time.
 *
 * <p>Threading: thread-safe. The lock is taken only where somebody waits, or begins or ceases to.
 */
final class WaitList {
    private final Reactor reactor;
    private final Impatience impatience;
    private final SpinLock lock = new SpinLock();
    private final WaiterQueue seekers = new WaiterQueue();
    private final WaiterQueue others = new WaiterQueue();

    WaitList(Reactor reactor, Impatience impatience) {
        this.reactor = reactor;
        this.impatience = impatience;
    }

    /** Whether a thread is parked that could lead. */
    boolean hasLeadSeekers() {
        return !seekers.isEmpty();
    }

    /** The waiter is to be told of changes. It looks once more after this. */
    void register(Waitable on, Waiter waiter) {
        lock.lock();
        try {
            on.waiters.addLast(waiter.atWaitable);
        } finally {
            lock.unlock();
        }
    }

    /** The waiter was chosen, but found nothing: it waits on, before all others. It looks once more after this. */
    void registerAgain(Waitable on, Waiter waiter) {
        lock.lock();
        try {
            waiter.chosen = false;
            on.waiters.addFirst(waiter.atWaitable);
        } finally {
            lock.unlock();
        }
    }

    /** The waiter waits no more; returns whether it had been chosen. */
    boolean unregister(Waitable on, Waiter waiter) {
        lock.lock();
        try {
            on.waiters.remove(waiter.atWaitable);
            boolean wasChosen = waiter.chosen;
            waiter.chosen = false;
            return wasChosen;
        } finally {
            lock.unlock();
        }
    }

    /** The follower is about to park; what it waits on says what counts for it. */
    void enlist(Waitable on, Waiter follower) {
        impatience.add(on.hint);
        lock.lock();
        try {
            listOf(follower).addLast(follower.amongFollowers);
        } finally {
            lock.unlock();
        }
    }

    void delist(Waitable on, Waiter follower) {
        impatience.remove(on.hint);
        lock.lock();
        try {
            listOf(follower).remove(follower.amongFollowers);
        } finally {
            lock.unlock();
        }
    }

    private WaiterQueue listOf(Waiter follower) {
        return follower.mayLead ? seekers : others;
    }

    /** Tells all who wait on {@code on} to look again. */
    void signal(Waitable on) {
        Waiter only = null;
        lock.lock();
        try {
            if (on.waiters.hasOne()) {
                only = waiterAt(on.waiters.first());
            } else {
                for (Place place = on.waiters.first(); place != null; place = place.behind()) {
                    place.waiter.signalled = true;
                    wake(place.waiter);
                }
            }
            if (only != null) {
                only.signalled = true;
            }
        } finally {
            lock.unlock();
        }
        wake(only);
    }

    /** Tells the one that has waited on {@code on} for longest, of those who have not been told yet. */
    void signalOne(Waitable on) {
        Waiter longest;
        lock.lock();
        try {
            longest = waiterAt(on.waiters.first());
            if (longest != null) {
                on.waiters.remove(longest.atWaitable);
                longest.chosen = true;
                longest.signalled = true;
            }
        } finally {
            lock.unlock();
        }
        wake(longest);
    }

    /** Wakes one follower that could lead; those who are about to leave do not count. */
    void offerLead() {
        Waiter seeker = null;
        lock.lock();
        try {
            for (Place place = seekers.first(); place != null && seeker == null; place = place.behind()) {
                seeker = place.waiter.signalled ? null : place.waiter;
            }
        } finally {
            lock.unlock();
        }
        wake(seeker);
    }

    /** Lets every follower look again. */
    void wakeAll() {
        lock.lock();
        try {
            wakeAll(seekers);
            wakeAll(others);
        } finally {
            lock.unlock();
        }
    }

    private void wakeAll(WaiterQueue queue) {
        for (Place place = queue.first(); place != null; place = place.behind()) {
            wake(place.waiter);
        }
    }

    private static @Nullable Waiter waiterAt(@Nullable Place place) {
        return place == null ? null : place.waiter;
    }

    /** Without the lock if it can be: whom it wakes may need it at once. One that has left meanwhile takes no harm. */
    private void wake(@Nullable Waiter waiter) {
        if (waiter == null) {
            return;
        }
        if (waiter.leads) {
            reactor.wakeUp();
        } else {
            LockSupport.unpark(waiter.thread);
        }
    }
}
