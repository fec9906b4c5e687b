package io.madeleine.pmm;

import org.jspecify.annotations.Nullable;

/**
 * Waiters in the order in which they came; each leaves from wherever it stands, in constant time, and nothing is allocated.
 *
 * <p>Threading: guarded by the wait list's lock, but for {@link #isEmpty}, which anybody may ask.
 */
final class WaiterQueue {
    private @Nullable Place first;
    private @Nullable Place last;
    private volatile boolean occupied;

    /** Where a waiter stands in a queue. */
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

    /** Whether nobody is there. */
    boolean isEmpty() {
        return !occupied;
    }

    @Nullable
    Place first() {
        return first;
    }

    /** Whether there is exactly one. */
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

    /** Leaves; nothing happens if the place is not taken. */
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
