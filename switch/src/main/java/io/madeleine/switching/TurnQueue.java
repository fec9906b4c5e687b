package io.madeleine.switching;

import io.madeleine.pmm.Condition;
import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.Waitable;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads that wait for their turn to send on a connection, and its send tasks, first come, first served.
 *
 * <p>Who comes just when the connection is free may overtake the first of them for a moment: to wake a thread takes longer than
 * most messages do, and the connection would be idle meanwhile. After that moment it is kept for the first, who can be
 * overtaken no more, whatever handlers do. (Go's mutexes call this starvation mode.) Only a first that does not come though the
 * connection has long been free, as a handler computes in its thread or it is virtual and others keep all carriers, is
 * passed by until it is back.
 *
 * <p>Threading: thread-safe. Whoever frees the connection calls {@link #willBeFree()} first and tells {@link #first()} afterwards.
 */
final class TurnQueue {
    /** For how long the first may be overtaken. */
    private static final long MOMENT_NS = 1_000_000;

    /** For how long the connection is kept free for it. */
    private static final long KEPT_NS = 20_000_000;

    /** More than these are for a crowd, and left to the collector. */
    private static final int MOST_SPARE = 64;

    private final Supplier<Waitable> newWaitable;
    private final BooleanSupplier isFree;
    private final BooleanSupplier isVain;
    private final SpinLock lock = new SpinLock();
    private volatile @Nullable Place first;
    private @Nullable Place last;
    private @Nullable Place spare;
    private int spareCount;
    private volatile long freeSinceNs = System.nanoTime();

    /** Where a thread stands, and one object serves one thread after the other; or where send tasks do. */
    final class Place implements Condition {
        private final Waitable news = newWaitable.get();
        private final @Nullable TaskLine tasks;
        private @Nullable Place before;
        private @Nullable Place behind;
        private long threadId;

        /** Since when it has been the first. */
        private volatile long firstSinceNs;

        /** The connection was free for long, and its thread did not come. */
        private volatile boolean absent;

        private Place(@Nullable TaskLine tasks) {
            this.tasks = tasks;
        }

        /** What is signalled when its turn may have come, if it is a thread's. */
        Waitable news() {
            return news;
        }

        /** The tasks that stand here; null if it is a thread. */
        @Nullable
        TaskLine tasks() {
            return tasks;
        }

        /** Whether its thread, which asks, need not wait any longer. */
        @Override
        public boolean isMet() {
            if (absent) {
                absent = false;
            }
            return first == this && isFree.getAsBoolean() || isVain.getAsBoolean();
        }
    }

    /**
     * Nobody waits yet.
     *
     * @param newWaitable makes what a thread waits on
     * @param isFree whether the connection can be had
     * @param isVain whether nobody need wait any more
     */
    TurnQueue(Supplier<Waitable> newWaitable, BooleanSupplier isFree, BooleanSupplier isVain) {
        this.newWaitable = newWaitable;
        this.isFree = isFree;
        this.isVain = isVain;
    }

    /** Whether the connection is not to be taken by who comes now, even if it is free. */
    boolean isKept() {
        Place next = first;
        return next != null && isKeptFor(next);
    }

    private static boolean isPast(long sinceNs, long nowNs, long durationNs) {
        return nowNs - sinceNs >= durationNs;
    }

    private boolean isKeptFor(Place next) {
        long nowNs = System.nanoTime();
        if (next.absent || !isPast(next.firstSinceNs, nowNs, MOMENT_NS)) {
            return false;
        }
        if (isFree.getAsBoolean() && isPast(freeSinceNs, nowNs, KEPT_NS)) {
            next.absent = true;
            return false;
        }
        return true;
    }

    /** Whether nobody waits. */
    boolean isEmpty() {
        return first == null;
    }

    /** Who is to be told that the connection is free, or that it is in vain to wait. */
    @Nullable
    Place first() {
        return first;
    }

    boolean isFirst(Place place) {
        return first == place;
    }

    /** A place for send tasks, which are told by {@link TaskLine#markReady}; for {@link #join(Place)} and {@link #remove}. */
    Place newPlace(TaskLine tasks) {
        return new Place(tasks);
    }

    /** The tasks of a place are to have their turn. */
    void join(Place place) {
        lock.lock();
        try {
            place.absent = false;
            insertBehind(last, place);
        } finally {
            lock.unlock();
        }
    }

    /** Those tasks wait no more; the caller tells the {@link #first()} if there is something to be had. */
    void remove(Place place) {
        lock.lock();
        try {
            takeOut(place);
        } finally {
            lock.unlock();
        }
    }

    /** The connection is about to become free. */
    void willBeFree() {
        if (first != null) {
            freeSinceNs = System.nanoTime();
        }
    }

    /**
     * The calling thread is going to wait; {@link #leave} follows.
     *
     * @param inHandler whether it runs a handler: it may have waited when it was called, and cannot go on before it returns
     */
    Place join(boolean inHandler) {
        long self = Thread.currentThread().threadId();
        lock.lock();
        try {
            Place place = takeSpare();
            place.threadId = self;
            place.absent = false;
            Place before = inHandler ? lastBefore(self) : last;
            insertBehind(before, place);
            return place;
        } finally {
            lock.unlock();
        }
    }

    /** The place in front of the first one of that thread; or the last. */
    private @Nullable Place lastBefore(long threadId) {
        Place before = null;
        for (Place place = first; place != null && place.threadId != threadId; place = place.behind) {
            before = place;
        }
        return before;
    }

    private void insertBehind(@Nullable Place before, Place place) {
        Place behind = before == null ? first : before.behind;
        place.before = before;
        place.behind = behind;
        if (behind == null) {
            last = place;
        } else {
            behind.before = place;
        }
        if (before == null) {
            become(place);
        } else {
            before.behind = place;
        }
    }

    private void become(@Nullable Place newFirst) {
        if (newFirst != null) {
            newFirst.firstSinceNs = System.nanoTime();
        }
        first = newFirst;
    }

    /** The thread waits no more; the caller tells the {@link #first()} if there is something to be had. */
    void leave(Place place) {
        lock.lock();
        try {
            takeOut(place);
            keep(place);
        } finally {
            lock.unlock();
        }
    }

    private void takeOut(Place place) {
        Place before = place.before;
        Place behind = place.behind;
        if (behind == null) {
            last = before;
        } else {
            behind.before = before;
        }
        if (before == null) {
            become(behind);
        } else {
            before.behind = behind;
        }
        place.before = null;
        place.behind = null;
    }

    private Place takeSpare() {
        Place place = spare;
        if (place == null) {
            return new Place(null);
        }
        spare = place.behind;
        place.behind = null;
        spareCount--;
        return place;
    }

    private void keep(Place place) {
        if (spareCount < MOST_SPARE) {
            place.behind = spare;
            spare = place;
            spareCount++;
        }
    }
}
