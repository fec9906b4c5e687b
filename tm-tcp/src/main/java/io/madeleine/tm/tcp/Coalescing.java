package io.madeleine.tm.tcp;

import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.TimerSlack;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that what dense streams keep back leaves in time: before the thread that sent it waits or sends to another peer,
 * else by whoever polls, and when nobody does by a thread of its own, which is there only while there are such streams.
 *
 * <p>Threading: thread-safe.
 */
final class Coalescing {
    /** After so many looks in vain a stream has ended. */
    private static final int LOOKS_IN_VAIN = 64;

    /** A socket that is full is tried again after twice the time, and so on, so many times. */
    private static final int MAX_DOUBLINGS = 6;

    private static final int FIRST_CAPACITY = 8;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.tm.tcp"));
    private final String name;
    private final long coalesceNs;
    /**
     * The connections with a dense stream: so many of the first ones. They change in place, so that a stream that begins costs
     * no memory; who looks without the lock may miss one that moves just now, and the thread looks again.
     */
    private volatile @Nullable TcpConnection[] streams = new TcpConnection[FIRST_CAPACITY];

    private volatile int count;
    private volatile boolean closed;
    private @Nullable Thread thread;

    /** The connection that kept something last. A lost update means that a timer does what a call would have done. */
    private @Nullable TcpConnection keeper;

    Coalescing(String name, long coalesceNs) {
        this.name = name;
        this.coalesceNs = coalesceNs;
    }

    long coalesceNs() {
        return coalesceNs;
    }

    /** A connection has kept something back; under its lock. Costs nothing while its stream goes on. */
    void kept(TcpConnection connection, boolean isNew) {
        if (keeper != connection) {
            keeper = connection;
        }
        if (isNew) {
            enlist(connection);
        }
    }

    private synchronized void enlist(TcpConnection connection) {
        if (count == streams.length) {
            streams = Arrays.copyOf(streams, 2 * count);
        }
        Thread flusher = thread;
        if (flusher == null && !closed) {
            flusher = new Thread(this::run, "madeleine-tcp-flush-" + name);
            flusher.setDaemon(true);
            flusher.start();
            thread = flusher;
        }
        streams[count] = connection; // when nothing can fail any more for want of memory
        count++; // publishes it
        if (count == 1 && flusher != null) {
            LockSupport.unpark(flusher);
        }
    }

    /** Forgets a connection whose stream has ended; under its lock. */
    synchronized void delist(TcpConnection connection) {
        for (int i = 0; i < count; i++) {
            if (streams[i] == connection) {
                streams[i] = streams[count - 1];
                streams[count - 1] = null;
                count--;
                break;
            }
        }
        if (keeper == connection) {
            keeper = null;
        }
    }

    /** This thread is about to send over a connection: what it has kept for another peer leaves first. */
    void sendsOver(TcpConnection connection) {
        TcpConnection before = keeper;
        if (before != null && before != connection) {
            before.output().flushOwn();
        }
    }

    /** The connection at that place, if there still is one. */
    private @Nullable TcpConnection stream(int place) {
        return streams[place]; // never gets shorter
    }

    /** Somebody polls. */
    void poll(long nowNs) {
        for (int i = 0; i < count; i++) {
            TcpConnection connection = stream(i);
            if (connection != null) {
                connection.output().flushOwnOrOld(nowNs, coalesceNs);
            }
        }
    }

    /** Whether there is no dense stream. */
    boolean isIdle() {
        return count == 0;
    }

    /** The leader is about to sleep. */
    void flushAll() {
        for (int i = 0; i < count; i++) {
            TcpConnection connection = stream(i);
            if (connection != null) {
                connection.output().flushKept();
            }
        }
    }

    private void run() {
        TimerSlack.sharpen();
        Flushing flushing = new Flushing(new FlushTimer(coalesceNs));
        while (!closed) {
            try {
                if (count == 0) {
                    LockSupport.park(this);
                } else {
                    flushing.next();
                }
            } catch (RuntimeException | Error e) { // for want of memory, say: what is kept has nobody else
                failures.error("flushing failed; it goes on", e);
            }
        }
    }

    /** What the thread does while there are streams. */
    private final class Flushing {
        private final FlushTimer timer;
        private int vain;
        private int doublings;
        private boolean alive;

        Flushing(FlushTimer timer) {
            this.timer = timer;
        }

        /** Sleeps, and then brings about what is due. */
        void next() {
            timer.sleep(alive && doublings == 0 ? timer.patienceNs() : coalesceNs << doublings);
            boolean found = false;
            boolean full = false;
            alive = true;
            long nowNs = System.nanoTime();
            for (int i = 0; i < count; i++) {
                TcpConnection connection = stream(i);
                if (connection != null && connection.output().hasKept()) {
                    found = true;
                    alive &= connection.output().goesOn();
                    full |= !connection.output().flushIdle(nowNs);
                }
            }
            doublings = full ? Math.min(doublings + 1, MAX_DOUBLINGS) : 0;
            vain = found ? 0 : vain + 1;
            alive &= found;
            if (vain > LOOKS_IN_VAIN) {
                vain = 0;
                endStreams();
            }
        }

        private void endStreams() {
            for (int i = count - 1; i >= 0; i--) { // from behind: each may leave
                TcpConnection connection = stream(i);
                if (connection != null) {
                    connection.output().endStream();
                }
            }
        }
    }

    void close() {
        closed = true;
        Thread flusher;
        synchronized (this) {
            flusher = thread;
        }
        if (flusher != null) {
            LockSupport.unpark(flusher);
        }
    }
}
