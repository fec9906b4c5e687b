package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.TimerSlack;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Flushes the messages that dense streams hold back. The sending thread flushes its own before it waits or sends to
 * another peer; otherwise a polling thread does; if no thread does either, a timer thread flushes, which is awake only
 * while there are dense streams.
 *
 * <p>Threading: thread-safe.
 */
public final class Coalescing {
    /** The number of timer periods without messages after which a stream has ended. */
    private static final int LOOKS_IN_VAIN = 64;

    /** The upper bound of the exponential back-off while a socket is full. */
    private static final int MAX_DOUBLINGS = 6;

    private static final int FIRST_CAPACITY = 8;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.tm.tcp"));
    private final String name;
    private final long coalesceNs;

    /**
     * The outputs with a dense stream: the first {@link #count} elements. The array changes in place, so that a
     * new stream allocates nothing. A reader without the lock may miss an element that moves meanwhile; the timer
     * looks again.
     */
    private volatile @Nullable StreamOutput[] streams = new StreamOutput[FIRST_CAPACITY];

    private volatile int count;
    private volatile boolean closed;
    private volatile @Nullable Thread thread;

    /** Guards the list. The callers hold an output's lock, and so never wait. */
    private final SpinLock lock = new SpinLock();

    /**
     * The output that held back a message last. If two threads race here, the loser's message leaves with the
     * timer instead of with the next call.
     */
    private @Nullable StreamOutput keeper;

    public Coalescing(String name, long coalesceNs) {
        this.name = name;
        this.coalesceNs = coalesceNs;
    }

    long coalesceNs() {
        return coalesceNs;
    }

    /**
     * Notes that an output has held back a message. Called under its lock; {@link #startTimer} follows without it.
     * Costs almost nothing while a stream continues.
     */
    void kept(StreamOutput output, boolean isNew) {
        if (keeper != output) {
            keeper = output;
        }
        if (isNew) {
            enlist(output);
        }
    }

    private void enlist(StreamOutput output) {
        lock.lock();
        try {
            int before = count;
            if (before == streams.length) {
                streams = Arrays.copyOf(streams, 2 * before);
            }
            streams[before] = output; // after the last statement that may lack memory
            count = before + 1; // publishes it
            Thread flusher = thread;
            if (before == 0 && flusher != null) {
                LockSupport.unpark(flusher);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Starts the timer thread with the first message that was held back. Called without any output's lock. */
    void startTimer() {
        if (thread == null) {
            startThread();
        }
    }

    private synchronized void startThread() {
        if (thread == null && !closed) {
            Thread flusher = new Thread(this::run, "madeleine-tcp-flush-" + name);
            flusher.setDaemon(true);
            flusher.start();
            thread = flusher; // after the last statement that may lack memory
        }
    }

    /** Removes an output whose stream has ended. Called under its lock. */
    void delist(StreamOutput output) {
        lock.lock();
        try {
            int before = count;
            for (int i = 0; i < before; i++) {
                if (streams[i] == output) {
                    streams[i] = streams[before - 1];
                    streams[before - 1] = null;
                    count = before - 1;
                    break;
                }
            }
            if (keeper == output) {
                keeper = null;
            }
        } finally {
            lock.unlock();
        }
    }

    /** The calling thread is about to send: flushes what it has held back for another connection. */
    void sendsOver(StreamOutput output) {
        StreamOutput before = keeper;
        if (before != null && before != output) {
            before.flushOwn();
        }
    }

    /** The output at an index, or null if it has left. */
    private @Nullable StreamOutput stream(int place) {
        return streams[place]; // the array never shrinks
    }

    /** Flushes on behalf of a thread that polls. */
    void poll(long nowNs) {
        for (int i = 0; i < count; i++) {
            StreamOutput output = stream(i);
            if (output != null) {
                output.flushOwnOrOld(nowNs, coalesceNs);
            }
        }
    }

    /** Whether there is no dense stream. */
    boolean isIdle() {
        return count == 0;
    }

    /** Flushes everything before the leader sleeps. */
    void flushAll() {
        for (int i = 0; i < count; i++) {
            StreamOutput output = stream(i);
            if (output != null) {
                output.flushKept();
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
            } catch (RuntimeException | Error e) { // for example out of memory; no other thread flushes
                failures.error("cannot flush messages held back by adapter " + name + "; the timer goes on", e);
            }
        }
    }

    /** The work of the timer thread while there are dense streams. */
    private final class Flushing {
        private final FlushTimer timer;
        private int vain;
        private int doublings;
        private boolean alive;

        Flushing(FlushTimer timer) {
            this.timer = timer;
        }

        /** Sleeps, then flushes what is due. */
        void next() {
            timer.sleep(alive && doublings == 0 ? timer.patienceNs() : coalesceNs << doublings);
            boolean found = false;
            boolean full = false;
            alive = true;
            long nowNs = System.nanoTime();
            for (int i = 0; i < count; i++) {
                StreamOutput output = stream(i);
                if (output != null && output.hasKept()) {
                    found = true;
                    alive &= output.goesOn();
                    full |= !output.flushIdle(nowNs);
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
            for (int i = count - 1; i >= 0; i--) { // backwards, because each element may be removed
                StreamOutput output = stream(i);
                if (output != null) {
                    output.endStream();
                }
            }
        }
    }

    public void close() {
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
