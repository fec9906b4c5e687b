package io.madeleine.nexus;

import io.madeleine.api.WaitInterruptedException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be written to a connection: bounded, in order. Who may wait does so when there is too much; who may not is
 * told. A request with large arguments comes in pieces, and nobody gets in between.
 *
 * <p>Threading: thread-safe.
 */
final class WanQueue {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<byte[]> pieces = new ArrayDeque<>();

    /** Requests that came while another one was being put piece by piece. */
    private final Deque<byte[]> behind = new ArrayDeque<>();

    private final long window;
    private final long maxBytes;
    private long bytes;
    private boolean turnTaken;
    private boolean closed;

    /**
     * An empty queue.
     *
     * @param window how many bytes may be there before who may wait waits
     * @param maxBytes how many may be there at all
     */
    WanQueue(long window, long maxBytes) {
        this.window = window;
        this.maxBytes = maxBytes;
    }

    /**
     * Waits for room, puts a request or its beginning; false if the queue is closed.
     *
     * @param more whether pieces follow, with {@link #putPiece}, and then {@link #giveTurn}
     */
    boolean put(byte[] request, boolean more) {
        lock.lock();
        try {
            while (!closed && (turnTaken || (bytes > 0 && bytes + request.length > window))) {
                changed.await();
            }
            if (closed) {
                return false;
            }
            turnTaken = more;
            add(request);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("interrupted while a request waited for its turn to be sent");
        } finally {
            lock.unlock();
        }
    }

    /** The next piece; waits for room even when interrupted, since half a request cannot be taken back. */
    boolean putPiece(byte[] piece) {
        lock.lock();
        try {
            while (!closed && bytes > 0 && bytes + piece.length > window) {
                changed.awaitUninterruptibly();
            }
            if (!closed) {
                add(piece);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /** All pieces have been put. */
    void giveTurn() {
        lock.lock();
        try {
            turnTaken = false;
            pieces.addAll(behind); // counted already
            behind.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** What has become of a request that was put without waiting. */
    enum Outcome {
        PUT,
        FULL,
        CLOSED
    }

    /** Puts a whole request without waiting. */
    Outcome tryPut(byte[] request) {
        lock.lock();
        try {
            if (closed) {
                return Outcome.CLOSED;
            }
            if (bytes + request.length > maxBytes) {
                return Outcome.FULL;
            }
            if (turnTaken) {
                behind.add(request);
                bytes += request.length;
            } else {
                add(request);
            }
            return Outcome.PUT;
        } finally {
            lock.unlock();
        }
    }

    private void add(byte[] piece) {
        pieces.add(piece);
        bytes += piece.length;
        changed.signalAll();
    }

    /** Waits for the first piece, which stays; null if there is none in that time, or the queue is closed. */
    byte @Nullable [] first(long timeoutNs) throws InterruptedException {
        lock.lock();
        try {
            for (long leftNs = timeoutNs; pieces.isEmpty() && !closed && leftNs > 0; ) {
                leftNs = changed.awaitNanos(leftNs);
            }
            return pieces.peek();
        } finally {
            lock.unlock();
        }
    }

    /** The first piece has been taken up; the next one, if it is there and no longer than that. */
    byte @Nullable [] next(int maxLength) {
        lock.lock();
        try {
            pieces.poll();
            byte[] following = pieces.peek();
            return following != null && following.length <= maxLength ? following : null;
        } finally {
            lock.unlock();
        }
    }

    /** So many bytes have been written. */
    void written(long count) {
        lock.lock();
        try {
            bytes -= count;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether something other than the next piece of a request may be written, once all there is has been. */
    boolean isBetweenRequests() {
        lock.lock();
        try {
            return !turnTaken && pieces.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return bytes == 0 || closed;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all has been written; whether it has in that time. */
    boolean awaitEmpty(long timeoutNs) {
        lock.lock();
        try {
            for (long leftNs = timeoutNs; bytes > 0 && !closed && leftNs > 0; ) {
                leftNs = changed.awaitNanos(leftNs);
            }
            return bytes == 0 || closed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("interrupted while requests waited to be sent");
        } finally {
            lock.unlock();
        }
    }

    /** Nothing can be written any more; how many pieces are lost. */
    int close() {
        lock.lock();
        try {
            closed = true;
            int lost = pieces.size() + behind.size();
            pieces.clear();
            behind.clear();
            changed.signalAll();
            return lost;
        } finally {
            lock.unlock();
        }
    }
}
