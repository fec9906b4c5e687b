package io.madeleine.pmm;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Rings at a time to the microsecond, from a thread of its own that sleeps until then. It may ring for a time that was set before, or
 * not at all when memory is short.
 *
 * <p>Threading: {@link #set} and {@link #clear} by one thread at a time. The thread starts when it is first set.
 */
final class Alarm implements AutoCloseable {
    private static final long NEVER = Long.MAX_VALUE;
    private static final long PAUSE_NS = 10_000_000;

    private final String name;
    private final Runnable bell;
    private final AtomicLong timeNs = new AtomicLong(NEVER);

    /** Until when the thread sleeps; it looks at the time that is set after it has said so. */
    private volatile long sleepsUntilNs = NEVER;

    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    Alarm(String name, Runnable bell) {
        this.name = name;
        this.bell = bell;
    }

    /** Rings at that time, in {@link System#nanoTime()} terms, in place of the one set before. */
    void set(long atNs) {
        timeNs.set(atNs);
        Thread sleeper = thread;
        if (sleeper == null) {
            start();
        } else if (sleepsUntilNs == NEVER || atNs - sleepsUntilNs < 0) {
            LockSupport.unpark(sleeper);
        }
    }

    /** Does not ring. */
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
            // the next time, perhaps
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
