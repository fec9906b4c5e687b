package io.madeleine.nexus.wan;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.WaitInterruptedException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The queue of bytes to be written to a connection: bounded and ordered. A thread that may wait does so if the queue is
 * full; one that must not is refused. The pieces of a request with large arguments stay together: other requests queue
 * behind them.
 *
 * <p>Threading: thread-safe.
 */
public final class WriteQueue {
    /** Wait without a timeout. */
    public static final long NO_TIMEOUT = Long.MAX_VALUE;

    /**
     * A request or a part of one.
     *
     * @param reported whether its loss is reported to send-failure listeners
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Piece(byte[] bytes, boolean reported) {}

    private final ReentrantLock lock = new ReentrantLock();

    /** Threads that wait to put a request. They are woken one by one: each wakes the next if room is left. */
    private final Condition mayPut = lock.newCondition();

    /** The thread that puts the pieces of its request. */
    private final Condition mayPutPiece = lock.newCondition();

    /** The writer thread. */
    private final Condition mayWrite = lock.newCondition();

    private final Condition isEmpty = lock.newCondition();
    private final Deque<Piece> pieces = new ArrayDeque<>();

    /** Requests of threads that must not wait, which came while another request was being put in pieces. */
    private final Deque<Piece> behind = new ArrayDeque<>();

    private final long window;
    private final long maxBytes;
    private long bytes;
    private boolean turnTaken;
    private boolean turnReported;
    private boolean closed;

    /**
     * Creates an empty queue.
     *
     * @param window the number of queued bytes from which on threads that may wait do so
     * @param maxBytes the largest number of queued bytes
     */
    public WriteQueue(long window, long maxBytes) {
        this.window = window;
        this.maxBytes = maxBytes;
    }

    /**
     * Waits for room and puts a request or its first piece; false if the queue is closed.
     *
     * @param more whether further pieces follow, with {@link #putPiece}, and then {@link #giveTurn}
     * @param reported whether its loss is reported to send-failure listeners
     * @param timeoutNs the longest wait, or {@link #NO_TIMEOUT}
     * @throws DeadlineExceededException if there is no room within this time
     */
    public boolean put(byte[] request, boolean more, boolean reported, long timeoutNs) {
        lock.lock();
        try {
            for (long leftNs = timeoutNs; !closed && (turnTaken || (bytes > 0 && bytes + request.length > window)); ) {
                if (leftNs == NO_TIMEOUT) {
                    mayPut.await();
                } else if (leftNs > 0) {
                    leftNs = mayPut.awaitNanos(leftNs);
                } else {
                    wakePutter(); // this thread may have consumed the wake-up
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

    /** Puts the next piece. Waits for room even if interrupted, because half a request cannot be withdrawn. */
    public boolean putPiece(byte[] piece) {
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

    /** Ends the pieces of a request; others may be put. */
    public void giveTurn() {
        lock.lock();
        try {
            turnTaken = false;
            pieces.addAll(behind); // their bytes are counted already
            behind.clear();
            mayWrite.signal();
            wakePutter();
        } finally {
            lock.unlock();
        }
    }

    /** The outcome of putting a request without waiting. */
    public enum Outcome {
        PUT,
        FULL,
        CLOSED
    }

    /** Puts a whole request without waiting. */
    public Outcome tryPut(byte[] request, boolean reported) {
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

    /**
     * Wakes one thread that may find room. If the room is too small for its request it waits again; the next write
     * wakes it.
     */
    private void wakePutter() {
        if (turnTaken) {
            mayPutPiece.signal();
        } else if (bytes < window) {
            mayPut.signal();
        }
    }

    /** Waits for the first piece, without removing it; null if none comes within the time, or the queue is closed. */
    public byte @Nullable [] first(long timeoutNs) throws InterruptedException {
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

    /**
     * Removes the first piece; returns the next one, without removing it, if it is no longer than {@code maxLength}.
     */
    public byte @Nullable [] next(int maxLength) {
        lock.lock();
        try {
            pieces.poll();
            byte[] following = bytesOf(pieces.peek());
            return following != null && following.length <= maxLength ? following : null;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that this many bytes have been written. */
    public void written(long count) {
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

    /**
     * Whether a message that is not in the queue may be written now: the queue is empty and no request is incomplete.
     */
    public boolean isBetweenRequests() {
        lock.lock();
        try {
            return !turnTaken && pieces.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Whether all bytes have been written, or the queue is closed. */
    public boolean isEmpty() {
        lock.lock();
        try {
            return bytes == 0 || closed;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all bytes have been written; false if they are not within the time. */
    public boolean awaitEmpty(long timeoutNs) {
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

    /** Closes the queue and drops its contents; returns whether the loss of a dropped piece is to be reported. */
    public boolean close() {
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
