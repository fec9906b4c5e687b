package io.madeleine.pmm;

import io.madeleine.pmm.spi.DescriptorPoller;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for raw file descriptors while the reactor sleeps, and wakes that when one is ready. It waits on when the
 * sleep is over and nothing has come, so that to arm it costs next to nothing; what comes in between it passes over, and finds when it
 * is armed again.
 *
 * <p>Threading: thread-safe.
 */
final class DescriptorSentry extends Thread {
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
    private WatchedDescriptors.@Nullable Snapshot submitted; // its own

    private DescriptorSentry(
            DescriptorPoller.Poll poll, Supplier<WatchedDescriptors.Snapshot> current, Runnable wakeReactor) {
        super("madeleine-descriptors");
        this.poll = poll;
        this.current = current;
        this.wakeReactor = wakeReactor;
        setDaemon(true);
    }

    /** One that is not armed, over a set that is its own. */
    static DescriptorSentry start(
            DescriptorPoller.Poll poll, Supplier<WatchedDescriptors.Snapshot> current, Runnable wakeReactor) {
        DescriptorSentry sentry = new DescriptorSentry(poll, current, wakeReactor);
        sentry.start();
        return sentry;
    }

    void arm() {
        rang = false;
        armed = true;
        if (idle) {
            LockSupport.unpark(this);
        }
    }

    /** Returns whether it has woken the reactor. */
    boolean disarm() {
        armed = false;
        return rang;
    }

    /** What is watched for has changed. */
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
            } catch (RuntimeException | Error e) { // nobody else looks while the reactor sleeps
                failures.error("waiting for descriptors failed on " + getName() + "; it goes on", e);
                LockSupport.parkNanos(this, PAUSE_NS);
            }
        }
    }

    /** Parks, unless it is armed; who arms does so and looks then whether it is idle. */
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

    /** Ends it. */
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
