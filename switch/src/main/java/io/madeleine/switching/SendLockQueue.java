package io.madeleine.switching;

import io.madeleine.pmm.Condition;
import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.Waitable;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The line of threads and send tasks that wait to send on a connection, in the order of their arrival.
 *
 * <p>A thread that arrives when the connection happens to be free may overtake the first in line for a moment: waking a
 * thread takes longer than most messages, and the connection would be idle meanwhile. After that moment the connection
 * is reserved for the first in line, which cannot be overtaken any more, not by handlers either (Go's mutexes call this
 * starvation mode). Only a first that does not come although the connection has long been free is skipped until it is
 * back: a handler may be computing in its thread, or it is virtual and others occupy all carriers.
 *
 * <p>Threading: thread-safe. A thread that frees the connection calls {@link #willBeFree()} before and wakes
 * {@link #first()} afterwards.
 */
final class SendLockQueue {
    /** How long the first in line may be overtaken. */
    private static final long MOMENT_NS = 1_000_000;

    /** How long the free connection is reserved for the first in line. */
    private static final long RESERVED_NS = 20_000_000;

    /** How many places are kept for reuse; the garbage collector takes those of a larger crowd. */
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

    /**
     * A place in the line: of a thread (one object serves one thread after the other), or of a connection's send tasks.
     */
    final class Place implements Condition {
        private final Waitable changed = newWaitable.get();
        private final @Nullable TaskLine tasks;
        private @Nullable Place before;
        private @Nullable Place behind;
        private long threadId;

        /** When it became the first, in {@link System#nanoTime()} terms. */
        private volatile long firstSinceNs;

        /** Whether the connection was free for long and the waiting thread did not come. */
        private volatile boolean absent;

        private Place(@Nullable TaskLine tasks) {
            this.tasks = tasks;
        }

        /** The waitable that is signalled when its turn may have come, for a thread's place. */
        Waitable changed() {
            return changed;
        }

        /** The tasks of this place; null for a thread's place. */
        @Nullable
        TaskLine tasks() {
            return tasks;
        }

        /** Whether the thread need not wait any longer; evaluated by that thread. */
        @Override
        public boolean isMet() {
            if (absent) {
                absent = false;
            }
            return first == this && isFree.getAsBoolean() || isVain.getAsBoolean();
        }
    }

    /**
     * Creates an empty line.
     *
     * @param newWaitable makes the waitable of a place
     * @param isFree whether the connection is free
     * @param isVain whether waiting has become pointless
     */
    SendLockQueue(Supplier<Waitable> newWaitable, BooleanSupplier isFree, BooleanSupplier isVain) {
        this.newWaitable = newWaitable;
        this.isFree = isFree;
        this.isVain = isVain;
    }

    /** Whether a newcomer must not take the connection, even if it is free. */
    boolean isReserved() {
        Place next = first;
        return next != null && isReservedFor(next);
    }

    private static boolean isPast(long sinceNs, long nowNs, long durationNs) {
        return nowNs - sinceNs >= durationNs;
    }

    private boolean isReservedFor(Place next) {
        long nowNs = System.nanoTime();
        if (next.absent || !isPast(next.firstSinceNs, nowNs, MOMENT_NS)) {
            return false;
        }
        if (isFree.getAsBoolean() && isPast(freeSinceNs, nowNs, RESERVED_NS)) {
            next.absent = true;
            return false;
        }
        return true;
    }

    /** Whether the line is empty. */
    boolean isEmpty() {
        return first == null;
    }

    /** The place to wake when the connection is free, or when waiting has become pointless. */
    @Nullable
    Place first() {
        return first;
    }

    boolean isFirst(Place place) {
        return first == place;
    }

    /**
     * Makes a place for send tasks, for {@link #join(Place)} and {@link #remove}; {@link TaskLine#markReady} wakes it.
     */
    Place newPlace(TaskLine tasks) {
        return new Place(tasks);
    }

    /** Puts the place of send tasks at the end of the line. */
    void join(Place place) {
        lock.lock();
        try {
            place.absent = false;
            insertBehind(last, place);
        } finally {
            lock.unlock();
        }
    }

    /** Removes the place of send tasks; if the connection is free, the caller wakes the {@link #first()}. */
    void remove(Place place) {
        lock.lock();
        try {
            takeOut(place);
        } finally {
            lock.unlock();
        }
    }

    /** Called before the connection becomes free. */
    void willBeFree() {
        if (first != null) {
            freeSinceNs = System.nanoTime();
        }
    }

    /**
     * Puts the calling thread into the line; {@link #leave} follows.
     *
     * @param inHandler whether the thread is in a handler. The handler may have been called while its thread waited
     *     here; it then goes before that thread's own place, which cannot continue before the handler returns
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

    /** The place before the first place of that thread; the last place if it has none. */
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

    /** Removes the thread's place; if the connection is free, the caller wakes the {@link #first()}. */
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
