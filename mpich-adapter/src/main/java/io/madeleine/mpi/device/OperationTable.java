package io.madeleine.mpi.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The operations that a message of a peer will name. An identity is a place and a count of its uses, so that a late
 * message does not meet the place's next operation; it is never 0.
 *
 * <p>Threading: thread-safe.
 */
final class OperationTable<T> {
    private static final int PLACE_BITS = 20;
    private static final int FIRST_PLACES = 64;
    private static final int PLACE_MASK = (1 << PLACE_BITS) - 1;
    private static final int MOST_USES = (1 << 31 - PLACE_BITS) - 1;

    private final SpinLock lock = new SpinLock();
    private @Nullable Object[] operations = new Object[FIRST_PLACES];
    private int[] uses = new int[FIRST_PLACES];
    private int[] free = firstFree();
    private int freeCount = FIRST_PLACES;

    private static int[] firstFree() {
        int[] all = new int[FIRST_PLACES];
        Arrays.setAll(all, place -> FIRST_PLACES - 1 - place);
        return all;
    }

    @SuppressWarnings("unchecked") // only add puts something there
    private @Nullable T at(int place) {
        return (T) operations[place];
    }

    int add(T operation) {
        lock.lock();
        try {
            if (freeCount == 0) {
                grow();
            }
            int place = free[--freeCount];
            operations[place] = operation;
            uses[place] = uses[place] >= MOST_USES ? 1 : uses[place] + 1;
            return uses[place] << PLACE_BITS | place;
        } finally {
            lock.unlock();
        }
    }

    private void grow() {
        int old = operations.length;
        if (old > PLACE_MASK) {
            throw new IllegalStateException(
                    old + " sends and receives wait for an answer: expected at most " + (PLACE_MASK + 1));
        }
        operations = Arrays.copyOf(operations, 2 * old);
        uses = Arrays.copyOf(uses, 2 * old);
        free = new int[2 * old];
        for (int place = 2 * old - 1; place >= old; place--) {
            free[freeCount++] = place;
        }
    }

    @Nullable
    T get(int identity) {
        lock.lock();
        try {
            int place = identity & PLACE_MASK;
            boolean isKnown = place < operations.length && uses[place] == identity >>> PLACE_BITS;
            return isKnown ? at(place) : null;
        } finally {
            lock.unlock();
        }
    }

    /** Removes an operation; null if it is not there any more. */
    @Nullable
    T remove(int identity) {
        lock.lock();
        try {
            int place = identity & PLACE_MASK;
            if (place >= operations.length || uses[place] != identity >>> PLACE_BITS || operations[place] == null) {
                return null;
            }
            T removed = at(place);
            operations[place] = null;
            free[freeCount++] = place;
            return removed;
        } finally {
            lock.unlock();
        }
    }

    /** Removes all operations for which this holds: nobody else ends them then. */
    List<T> takeAll(Predicate<T> wanted) {
        List<T> found = new ArrayList<>();
        lock.lock();
        try {
            for (int place = 0; place < operations.length; place++) {
                T operation = at(place);
                if (operation != null && wanted.test(operation)) {
                    found.add(operation);
                    operations[place] = null;
                    free[freeCount++] = place;
                }
            }
        } finally {
            lock.unlock();
        }
        return found;
    }

    /** All operations for which this holds. */
    List<T> all(Predicate<T> wanted) {
        List<T> found = new ArrayList<>();
        lock.lock();
        try {
            for (int place = 0; place < operations.length; place++) {
                T operation = at(place);
                if (operation != null && wanted.test(operation)) {
                    found.add(operation);
                }
            }
        } finally {
            lock.unlock();
        }
        return found;
    }
}
