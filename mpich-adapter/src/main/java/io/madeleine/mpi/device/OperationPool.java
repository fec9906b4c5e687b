package io.madeleine.mpi.device;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Operations that have ended well, for the next sends and receives. One that has failed or was cancelled is not used
 * again: a part of its message may be on its way still.
 *
 * <p>Threading: thread-safe.
 */
final class OperationPool<T extends Operation> {
    private static final int PLACES = 256;

    private final SpinLock lock = new SpinLock();
    private final List<T> free = new ArrayList<>(PLACES);

    /** An operation that is not started; null if there is none. */
    @Nullable
    T take() {
        lock.lock();
        try {
            return free.isEmpty() ? null : free.removeLast();
        } finally {
            lock.unlock();
        }
    }

    /** Takes an operation back that nobody uses any more. */
    void give(T operation) {
        if (operation.fault() != null || operation.isCancelled() || !operation.isDone()) {
            return;
        }
        operation.tell(null);
        operation.keep(null);
        lock.lock();
        try {
            if (free.size() < PLACES) {
                free.add(operation);
            }
        } finally {
            lock.unlock();
        }
    }
}
