package io.madeleine.session.bootstrap;

import io.madeleine.session.config.Membership;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sends a server's messages to one process, in order, in a thread of its own. The process may be stopped and read
 * nothing; the other processes must not wait for it.
 *
 * <p>Threading: thread-safe.
 */
final class ControlSender implements AutoCloseable {
    /** More than all the notices of the largest session; a process that lets more accumulate is given up. */
    private static final int MOST_WAITING = 4 * Membership.MAX_SIZE;

    private static final long LAST_WORDS_NS = TimeUnit.SECONDS.toNanos(1);

    private final ControlConnection connection;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** The messages that have not been sent; the first one may be on its way. */
    private final Queue<ControlMessage> waiting = new ArrayDeque<>();

    private boolean closed;

    /** Starts the thread. */
    ControlSender(ControlConnection connection, ThreadFactory threads) {
        this.connection = connection;
        threads.newThread(this::sendAll).start();
    }

    /** Has a message sent, without waiting for it. Without effect if the connection is lost or this is closed. */
    void send(ControlMessage message) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (waiting.size() >= MOST_WAITING) {
                connection.close(); // its reader notices
                return;
            }
            waiting.add(message);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Has a sign of life sent if nothing has been sent for {@code idleNs}. */
    void beatIfIdle(long nowNs, long idleNs) {
        lock.lock();
        try {
            if (waiting.isEmpty() && connection.isIdle(nowNs, idleNs)) {
                send(new ControlMessage.Heartbeat());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all messages have been sent, at most until the deadline. */
    void awaitSent(long deadlineNs) {
        lock.lock();
        try {
            long leftNs = deadlineNs - System.nanoTime();
            while (!waiting.isEmpty() && leftNs > 0) {
                leftNs = changed.awaitNanos(leftNs);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** Takes no more messages, and waits a bounded time until those that it has taken have been sent. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        awaitSent(System.nanoTime() + LAST_WORDS_NS);
    }

    private void sendAll() {
        try {
            for (ControlMessage next = first(); next != null; next = afterFirst()) {
                send(connection, next);
            }
        } finally { // after an error, too: nobody else would send
            if (!isClosed()) {
                connection.close();
            }
        }
    }

    private static void send(ControlConnection connection, ControlMessage message) {
        while (true) {
            try {
                connection.trySend(message);
                return;
            } catch (OutOfMemoryError _) {
                OutOfMemoryRetry.pause();
            }
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable ControlMessage afterFirst() {
        lock.lock();
        try {
            waiting.remove();
            if (waiting.isEmpty()) {
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        return first();
    }

    /** Waits for the first message; null if this is closed and all have been sent. */
    private @Nullable ControlMessage first() {
        lock.lock();
        try {
            while (waiting.isEmpty() && !closed) {
                changed.awaitUninterruptibly();
            }
            return waiting.peek();
        } finally {
            lock.unlock();
        }
    }
}
