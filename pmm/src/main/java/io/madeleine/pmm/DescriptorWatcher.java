package io.madeleine.pmm;

import io.madeleine.pmm.spi.DescriptorPoller;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for raw file descriptors while the reactor sleeps, and wakes the reactor when one is ready. If
 * nothing was ready when the sleep ends, it keeps waiting, so that the next arming is cheap. It ignores events between
 * two sleeps; as they are level-triggered, it sees them when it is armed again.
 *
 * <p>Threading: thread-safe.
 */
final class DescriptorWatcher extends Thread {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");
    private static final long PAUSE_NS = 10_000_000;
    private static final long CLOSE_MS = 1_000;

    private final FailureLog failures = new FailureLog(LOGGER);
    private final DescriptorPoller.Poll poll;
    private final Supplier<WatchedDescriptors.Snapshot> current;
    private final Runnable wakeReactor;
    private volatile boolean armed;
    private volatile boolean rang;
    private volatile boolean idle;
    private volatile boolean closed;
    private WatchedDescriptors.@Nullable Snapshot submitted; // used by this thread alone

    private DescriptorWatcher(
            DescriptorPoller.Poll poll, Supplier<WatchedDescriptors.Snapshot> current, Runnable wakeReactor) {
        super("madeleine-descriptors");
        this.poll = poll;
        this.current = current;
        this.wakeReactor = wakeReactor;
        setDaemon(true);
    }

    /** Starts a watcher, not armed, which owns {@code poll}. */
    static DescriptorWatcher start(
            DescriptorPoller.Poll poll, Supplier<WatchedDescriptors.Snapshot> current, Runnable wakeReactor) {
        DescriptorWatcher watcher = new DescriptorWatcher(poll, current, wakeReactor);
        watcher.start();
        return watcher;
    }

    void arm() {
        rang = false;
        armed = true;
        if (idle) {
            LockSupport.unpark(this);
        }
    }

    /** Ends the watcher's duty; returns whether it has woken the reactor. */
    boolean disarm() {
        armed = false;
        return rang;
    }

    /** The watched descriptors or operations have changed. */
    void lookAnew() {
        poll.wakeUp();
    }

    @Override
    public void run() {
        while (!closed) {
            try {
                if (isWanted()) {
                    waitForOne();
                }
            } catch (RuntimeException | Error e) { // go on: no other thread watches while the reactor sleeps
                failures.error("waiting for descriptors failed on " + getName() + "; it goes on", e);
                LockSupport.parkNanos(this, PAUSE_NS);
            }
        }
    }

    /** Parks unless armed. {@link #arm} sets its flag before it reads {@code idle}. */
    private boolean isWanted() {
        idle = true;
        if (!armed && !closed) {
            LockSupport.park(this);
        }
        idle = false;
        return armed && !closed;
    }

    private void waitForOne() {
        WatchedDescriptors.Snapshot now = current.get();
        if (now != submitted) {
            now.submitTo(poll);
            submitted = now;
        }
        if (poll.poll(true) > 0 && armed) {
            armed = false;
            rang = true;
            wakeReactor.run();
        }
    }

    /** Ends the thread and closes its poll. */
    void close() {
        closed = true;
        poll.wakeUp();
        LockSupport.unpark(this);
        try {
            join(CLOSE_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        if (!isAlive()) {
            poll.close();
        }
    }
}
