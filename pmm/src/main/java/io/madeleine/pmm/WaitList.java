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
    /** More than these are for a crowd, most likely of virtual threads, whose parking allocates more than a waiter. */
    private static final int MOST_KEPT = 64;

    private final Reactor reactor;
    private final Impatience impatience;
    private final Awakenings awakenings;
    private final SpinLock lock = new SpinLock();
    private final WaiterQueue seekers = new WaiterQueue();
    private final WaiterQueue others = new WaiterQueue();
    private @Nullable Waiter kept;
    private int keptCount;

    WaitList(Reactor reactor, Impatience impatience, Awakenings awakenings) {
        this.reactor = reactor;
        this.impatience = impatience;
        this.awakenings = awakenings;
    }

    /** Whether a thread is parked that could lead. */
    boolean hasLeadSeekers() {
        return !seekers.isEmpty();
    }

    /** The leader is to be told of changes. It looks once more after this. */
    void register(Waitable on, Waiter leader) {
        lock.lock();
        try {
            on.waiters.addLast(leader.atWaitable);
        } finally {
            lock.unlock();
        }
    }

    /** The follower was chosen, but found nothing: it waits on, before all others. It looks once more after this. */
    void enlistAgain(Waitable on, Waiter follower) {
        lock.lock();
        try {
            follower.chosen = false;
            on.waiters.addFirst(follower.atWaitable);
        } finally {
            lock.unlock();
        }
    }

    /** The leader waits no more; returns whether it had been chosen. */
    boolean unregister(Waitable on, Waiter leader) {
        lock.lock();
        try {
            on.waiters.remove(leader.atWaitable);
            boolean wasChosen = leader.chosen;
            leader.chosen = false;
            return wasChosen;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The thread is about to park, and is to be told of changes to {@code on}, which says what counts for it. It looks once
     * more after this.
     */
    Waiter enlist(Waitable on, Thread thread, boolean mayLead) {
        impatience.add(on.hint);
        lock.lock();
        try {
            Waiter follower = takeKept();
            follower.thread = thread;
            follower.mayLead = mayLead;
            on.waiters.addLast(follower.atWaitable);
            listOf(follower).addLast(follower.amongFollowers);
            return follower;
        } finally {
            lock.unlock();
        }
    }

    /** The thread waits no more, and lets the waiter go; returns whether it had been chosen. */
    boolean delist(Waitable on, Waiter follower) {
        impatience.remove(on.hint);
        lock.lock();
        try {
            on.waiters.remove(follower.atWaitable);
            listOf(follower).remove(follower.amongFollowers);
            boolean wasChosen = follower.chosen;
            keep(follower);
            return wasChosen;
        } finally {
            lock.unlock();
        }
    }

    private Waiter takeKept() {
        Waiter waiter = kept;
        if (waiter == null) {
            return Waiter.follower();
        }
        kept = waiter.nextKept;
        waiter.nextKept = null;
        keptCount--;
        return waiter;
    }

    private void keep(Waiter follower) {
        follower.thread = null;
        follower.chosen = false;
        follower.signalled = false;
        if (keptCount < MOST_KEPT) {
            follower.nextKept = kept;
            kept = follower;
            keptCount++;
        }
    }

    private WaiterQueue listOf(Waiter follower) {
        return follower.mayLead ? seekers : others;
    }

    /** Tells all who wait on {@code on} to look again. */
    void signal(Waitable on) {
        Waiter only = null;
        boolean isNews = false;
        lock.lock();
        try {
            if (on.waiters.hasOne()) {
                only = waiterAt(on.waiters.first());
                isNews = only != null && tell(only);
            } else {
                for (Place place = on.waiters.first(); place != null; place = place.behind()) {
                    wake(place.waiter, on.hint, tell(place.waiter));
                }
            }
        } finally {
            lock.unlock();
        }
        wake(only, on.hint, isNews);
    }

    /** Tells the one that has waited on {@code on} for longest, of those who have not been told yet. */
    void signalOne(Waitable on) {
        Waiter longest;
        boolean isNews = false;
        lock.lock();
        try {
            longest = waiterAt(on.waiters.first());
            if (longest != null) {
                on.waiters.remove(longest.atWaitable);
                longest.chosen = true;
                isNews = tell(longest);
            }
        } finally {
            lock.unlock();
        }
        wake(longest, on.hint, isNews);
    }

    /** It is to look; returns whether it has looked, or not waited yet, since it was told last. Under the lock. */
    private static boolean tell(Waiter waiter) {
        boolean isNews = !waiter.signalled;
        waiter.signalled = true;
        return isNews;
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
        wake(seeker, null, true);
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
            wake(place.waiter, null, true);
        }
    }

    private static @Nullable Waiter waiterAt(@Nullable Place place) {
        return place == null ? null : place.waiter;
    }

    /**
     * Without the lock if it can be: whom it wakes may need it at once. One that has left meanwhile takes no harm.
     *
     * @param isNews whether it counts: who has been told and has not run yet becomes runnable no second time, but is woken once
     *     more all the same, since whoever told it may have failed
     */
    private void wake(@Nullable Waiter waiter, @Nullable WaitHint hint, boolean isNews) {
        if (waiter == null) {
            return;
        }
        if (waiter.leads) {
            reactor.wakeUp();
        } else {
            Thread thread = waiter.thread;
            LockSupport.unpark(thread);
            if (isNews && thread != null && thread.isVirtual() && WaitHint.isImpatient(hint)) {
                awakenings.note();
            }
        }
    }
}
