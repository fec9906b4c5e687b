package io.madeleine.pmm;

import io.madeleine.pmm.WaiterQueue.Place;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The threads that wait without polling, and the objects on which they wait: parked followers, and the leader while it
 * sleeps. Beginning a wait, ending it, and telling one thread take constant time for any number of threads.
 *
 * <p>Threading: thread-safe. The lock is taken only by threads that begin or end a wait, or that tell a waiting thread.
 */
final class WaitList {
    /**
     * The most waiters kept for reuse. Larger crowds are mostly virtual threads, whose parking allocates more than a
     * waiter.
     */
    private static final int MOST_KEPT = 64;

    private final Reactor reactor;
    private final WaitHintCounts hintCounts;
    private final VirtualWakeups wakeups;
    private final SpinLock lock = new SpinLock();
    private final WaiterQueue seekers = new WaiterQueue();
    private final WaiterQueue others = new WaiterQueue();
    private @Nullable Waiter kept;
    private int keptCount;

    WaitList(Reactor reactor, WaitHintCounts hintCounts, VirtualWakeups wakeups) {
        this.reactor = reactor;
        this.hintCounts = hintCounts;
        this.wakeups = wakeups;
    }

    /** Whether a thread is parked that could lead. */
    boolean hasLeadSeekers() {
        return !seekers.isEmpty();
    }

    /** Registers the sleeping leader for changes of {@code on}. It checks its condition once more after this. */
    void register(Waitable on, Waiter leader) {
        lock.lock();
        try {
            on.waiters.addLast(leader.atWaitable);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Puts a chosen follower whose condition did not hold back at the head of the queue. It checks its condition once
     * more after this.
     */
    void enlistAgain(Waitable on, Waiter follower) {
        lock.lock();
        try {
            follower.chosen = false;
            on.waiters.addFirst(follower.atWaitable);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the leader's wait; returns whether it was chosen. */
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
     * Registers a thread that is about to park, for changes of {@code on}, whose hint applies. The thread checks its
     * condition once more after this.
     */
    Waiter enlist(Waitable on, Thread thread, boolean mayLead) {
        hintCounts.add(on.hint);
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

    /** Ends a thread's wait and releases its waiter; returns whether it was chosen. */
    boolean delist(Waitable on, Waiter follower) {
        hintCounts.remove(on.hint);
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

    /** Makes all threads that wait on {@code on} check their conditions again. */
    void signal(Waitable on) {
        Waiter only = null;
        boolean becomesRunnable = false;
        lock.lock();
        try {
            if (on.waiters.hasOne()) {
                only = waiterAt(on.waiters.first());
                becomesRunnable = only != null && tell(only);
            } else {
                for (Place place = on.waiters.first(); place != null; place = place.behind()) {
                    wake(place.waiter, on.hint, tell(place.waiter));
                }
            }
        } finally {
            lock.unlock();
        }
        wake(only, on.hint, becomesRunnable);
    }

    /**
     * Makes one thread check its condition again: the one that has waited on {@code on} for longest without having been
     * chosen.
     */
    void signalOne(Waitable on) {
        Waiter longest;
        boolean becomesRunnable = false;
        lock.lock();
        try {
            longest = waiterAt(on.waiters.first());
            if (longest != null) {
                on.waiters.remove(longest.atWaitable);
                longest.chosen = true;
                becomesRunnable = tell(longest);
            }
        } finally {
            lock.unlock();
        }
        wake(longest, on.hint, becomesRunnable);
    }

    /** Marks the waiter as signalled; returns whether it was not marked before. The caller holds the lock. */
    private static boolean tell(Waiter waiter) {
        boolean becomesRunnable = !waiter.signalled;
        waiter.signalled = true;
        return becomesRunnable;
    }

    /** Wakes one follower that could lead, except those that have been signalled and are about to leave. */
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

    /** Makes every follower check its condition again. */
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
     * Wakes a waiter, without the lock where possible: the woken thread may need it at once. A waiter that has left
     * meanwhile is not harmed.
     *
     * @param becomesRunnable whether the thread becomes runnable by this. One that was signalled before and has not run
     *     yet is woken again nevertheless, because the thread that signalled it may have failed
     */
    private void wake(@Nullable Waiter waiter, @Nullable WaitHint hint, boolean becomesRunnable) {
        if (waiter == null) {
            return;
        }
        if (waiter.leads) {
            reactor.wakeUp();
        } else {
            Thread thread = waiter.thread;
            LockSupport.unpark(thread);
            if (becomesRunnable && thread != null && thread.isVirtual() && WaitHint.isImpatient(hint)) {
                wakeups.note();
            }
        }
    }
}
