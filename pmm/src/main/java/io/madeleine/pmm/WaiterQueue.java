package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * A queue of waiters in order of arrival. A waiter can leave from any position in constant time; no operation
 * allocates.
 *
 * <p>Threading: guarded by the wait list's lock, except for {@link #isEmpty}, which any thread may call.
 */
final class WaiterQueue {
    private @Nullable Place first;
    private @Nullable Place last;
    private volatile boolean occupied;

    /** The position of a waiter in a queue. */
    static final class Place {
        final Waiter waiter;
        private @Nullable Place before;
        private @Nullable Place behind;
        private boolean taken;

        Place(Waiter waiter) {
            this.waiter = waiter;
        }

        boolean isTaken() {
            return taken;
        }

        @Nullable
        Place behind() {
            return behind;
        }
    }

    /** Whether the queue is empty. */
    boolean isEmpty() {
        return !occupied;
    }

    @Nullable
    Place first() {
        return first;
    }

    /** Whether there is exactly one waiter. */
    boolean hasOne() {
        return first != null && first == last;
    }

    void addLast(Place place) {
        place.taken = true;
        place.before = last;
        place.behind = null;
        if (last == null) {
            first = place;
        } else {
            last.behind = place;
        }
        last = place;
        occupied = true;
    }

    void addFirst(Place place) {
        place.taken = true;
        place.before = null;
        place.behind = first;
        if (first == null) {
            last = place;
        } else {
            first.before = place;
        }
        first = place;
        occupied = true;
    }

    /** Leaves the queue; does nothing if the place is not taken. */
    void remove(Place place) {
        if (!place.taken) {
            return;
        }
        place.taken = false;
        Place before = place.before;
        Place behind = place.behind;
        if (before == null) {
            first = behind;
        } else {
            before.behind = behind;
        }
        if (behind == null) {
            last = before;
        } else {
            behind.before = before;
        }
        place.before = null;
        place.behind = null;
        if (first == null) {
            occupied = false;
        }
    }
}
