package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
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
    /** As long as it takes. */
    static final long NO_TIMEOUT = Long.MAX_VALUE;

    /**
     * A request or a part of one.
     *
     * @param reported whether somebody is to be told if it is lost
     */
    @SuppressWarnings("ArrayRecordComponent") // not compared
    private record Piece(byte[] bytes, boolean reported) {}

    private final ReentrantLock lock = new ReentrantLock();

    /** Who wants to put a request; woken one by one, and whoever has put one wakes the next if there is room left. */
    private final Condition mayPut = lock.newCondition();

    /** Who has the turn. */
    private final Condition mayPutPiece = lock.newCondition();

    /** Who writes. */
    private final Condition mayWrite = lock.newCondition();

    private final Condition isEmpty = lock.newCondition();
    private final Deque<Piece> pieces = new ArrayDeque<>();

    /** Requests that came while another one was being put piece by piece. */
    private final Deque<Piece> behind = new ArrayDeque<>();

    private final long window;
    private final long maxBytes;
    private long bytes;
    private boolean turnTaken;
    private boolean turnReported;
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
     * @param reported whether somebody is to be told if it is lost
     * @param timeoutNs for how long it may wait, or {@link #NO_TIMEOUT}
     * @throws DeadlineExceededException if that was not enough
     */
    boolean put(byte[] request, boolean more, boolean reported, long timeoutNs) {
        lock.lock();
        try {
            for (long leftNs = timeoutNs; !closed && (turnTaken || (bytes > 0 && bytes + request.length > window)); ) {
                if (leftNs == NO_TIMEOUT) {
                    mayPut.await();
                } else if (leftNs > 0) {
                    leftNs = mayPut.awaitNanos(leftNs);
                } else {
                    wakePutter(); // it may have been this one's turn
                    throw new DeadlineExceededException(
                            "its deadline passed while a request waited for its turn to be sent");
                }
            }
            if (closed) {
                return false;
            }
            turnTaken = more;
            turnReported = reported;
            add(new Piece(request, reported));
            wakePutter();
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
                mayPutPiece.awaitUninterruptibly();
            }
            if (!closed) {
                add(new Piece(piece, turnReported));
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
            mayWrite.signal();
            wakePutter();
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
    Outcome tryPut(byte[] request, boolean reported) {
        lock.lock();
        try {
            if (closed) {
                return Outcome.CLOSED;
            }
            if (bytes + request.length > maxBytes) {
                return Outcome.FULL;
            }
            if (turnTaken) {
                behind.add(new Piece(request, reported));
                bytes += request.length;
            } else {
                add(new Piece(request, reported));
            }
            return Outcome.PUT;
        } finally {
            lock.unlock();
        }
    }

    private void add(Piece piece) {
        pieces.add(piece);
        bytes += piece.bytes().length;
        mayWrite.signal();
    }

    /** Who finds too little room for its request waits again, and more room is told of when it comes. */
    private void wakePutter() {
        if (turnTaken) {
            mayPutPiece.signal();
        } else if (bytes < window) {
            mayPut.signal();
        }
    }

    /** Waits for the first piece, which stays; null if there is none in that time, or the queue is closed. */
    byte @Nullable [] first(long timeoutNs) throws InterruptedException {
        lock.lock();
        try {
            for (long leftNs = timeoutNs; pieces.isEmpty() && !closed && leftNs > 0; ) {
                leftNs = mayWrite.awaitNanos(leftNs);
            }
            return bytesOf(pieces.peek());
        } finally {
            lock.unlock();
        }
    }

    private static byte @Nullable [] bytesOf(@Nullable Piece piece) {
        return piece == null ? null : piece.bytes();
    }

    /** The first piece has been taken up; the next one, if it is there and no longer than that. */
    byte @Nullable [] next(int maxLength) {
        lock.lock();
        try {
            pieces.poll();
            byte[] following = bytesOf(pieces.peek());
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
            wakePutter();
            if (bytes == 0) {
                isEmpty.signalAll();
            }
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
                leftNs = isEmpty.awaitNanos(leftNs);
            }
            return bytes == 0 || closed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("interrupted while requests waited to be sent");
        } finally {
            lock.unlock();
        }
    }

    private static boolean anyReported(Deque<Piece> some) {
        for (Piece piece : some) {
            if (piece.reported()) {
                return true;
            }
        }
        return false;
    }

    /** Nothing can be written any more; whether something is lost of which somebody is to be told. */
    boolean close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                mayPut.signalAll();
                mayPutPiece.signalAll();
                mayWrite.signalAll();
                isEmpty.signalAll();
            }
            boolean lost = anyReported(pieces) || anyReported(behind);
            pieces.clear();
            behind.clear();
            return lost;
        } finally {
            lock.unlock();
        }
    }
}
