package io.madeleine.pmm;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Rings a bell at a given time, exact to microseconds, from a thread that sleeps until then. It may also ring for a
 * time that was set before, and may not ring at all if memory is short.
 *
 * <p>Threading: one thread at a time calls {@link #set} and {@link #clear}. The first {@link #set} starts the alarm's
 * thread.
 */
final class Alarm implements AutoCloseable {
    private static final long NEVER = Long.MAX_VALUE;
    private static final long PAUSE_NS = 10_000_000;

    private final String name;
    private final Runnable bell;
    private final AtomicLong timeNs = new AtomicLong(NEVER);

    /** When the thread wakes up; it writes this before it reads the set time again. */
    private volatile long sleepsUntilNs = NEVER;

    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    Alarm(String name, Runnable bell) {
        this.name = name;
        this.bell = bell;
    }

    /** Rings at this time, in {@link System#nanoTime()} terms, instead of the one set before. */
    void set(long atNs) {
        timeNs.set(atNs);
        Thread sleeper = thread;
        if (sleeper == null) {
            start();
        } else if (sleepsUntilNs == NEVER || atNs - sleepsUntilNs < 0) {
            LockSupport.unpark(sleeper);
        }
    }

    /** Cancels the set time. */
    void clear() {
        timeNs.set(NEVER);
    }

    private void start() {
        if (closed) {
            return;
        }
        try {
            thread = Thread.ofPlatform().daemon().name(name).start(this::run);
        } catch (OutOfMemoryError _) {
            // the next set() tries again
        }
    }

    private void run() {
        TimerSlack.sharpen();
        while (!closed) {
            try {
                ringOrSleep();
            } catch (OutOfMemoryError _) {
                LockSupport.parkNanos(this, PAUSE_NS);
            }
        }
    }

    private void ringOrSleep() {
        long atNs = timeNs.get();
        long leftNs = atNs == NEVER ? NEVER : atNs - System.nanoTime();
        if (leftNs <= 0) {
            if (timeNs.compareAndSet(atNs, NEVER)) {
                bell.run();
            }
            return;
        }
        sleepsUntilNs = atNs;
        if (timeNs.get() == atNs && !closed) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    @Override
    public void close() {
        closed = true;
        Thread sleeper = thread;
        if (sleeper != null) {
            LockSupport.unpark(sleeper);
        }
    }
}
