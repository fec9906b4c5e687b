package io.madeleine.mpi.device;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps operations that have ended well for the next sends and receives. An operation that has failed or was cancelled
 * is not used again: a part of its message may still be on its way.
 *
 * <p>Most programs call MPI in one thread. So the first thread that gives an operation back has places of its own, for
 * which it needs no lock: two locks would be a tenth of the time of a short message.
 *
 * <p>Threading: thread-safe.
 */
final class OperationPool<T extends Operation> {
    private static final int PLACES = 256;
    private static final long NOBODY = 0;

    private final SpinLock lock = new SpinLock();
    private final List<T> free = new ArrayList<>(PLACES);

    /** The thread that has places of its own; set once, and no other thread ever has this number. */
    private volatile long ownerId = NOBODY;

    private final List<T> ofOwner = new ArrayList<>(PLACES);

    /** Takes an operation that is not started; null if there is none. */
    @Nullable
    T take() {
        if (isOwner() && !ofOwner.isEmpty()) {
            return ofOwner.removeLast();
        }
        lock.lock();
        try {
            return free.isEmpty() ? null : free.removeLast();
        } finally {
            lock.unlock();
        }
    }

    private boolean isOwner() {
        return ownerId == Thread.currentThread().threadId();
    }

    /** Takes back an operation that nobody uses any more. */
    void give(T operation) {
        if (operation.fault() != null || operation.isCancelled() || !operation.isDone()) {
            return;
        }
        operation.tell(null);
        operation.keep(null);
        if (isOwner() && ofOwner.size() < PLACES) {
            ofOwner.add(operation);
        } else {
            giveToAll(operation);
        }
    }

    private void giveToAll(T operation) {
        lock.lock();
        try {
            if (ownerId == NOBODY) {
                ownerId = Thread.currentThread().threadId();
            }
            if (free.size() < PLACES) {
                free.add(operation);
            }
        } finally {
            lock.unlock();
        }
    }
}
