package io.madeleine.nexus;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Runs an action every 10 ms while there is something with a deadline. If the action throws, for lack of memory, for
 * instance, it is repeated. It runs in a platform thread, because the JDK may lose a virtual thread that parks with a
 * timeout while there is no memory to schedule its wake-up.
 *
 * <p>Threading: thread-safe; the action runs in a thread of its own.
 */
final class Sweeper {
    /** The precision of deadlines for which no thread waits. */
    private static final long SWEEP_NS = 10_000_000;

    private static final int IDLE_SWEEPS = 100;

    private final BooleanSupplier isIdle;
    private final LongConsumer sweep;
    private final AtomicBoolean sweeping = new AtomicBoolean();

    /**
     * Creates a sweeper, which starts with {@link #wake}.
     *
     * @param isIdle whether nothing has a deadline
     * @param sweep the action, which gets the time in {@link System#nanoTime} terms
     */
    Sweeper(BooleanSupplier isIdle, LongConsumer sweep) {
        this.isIdle = isIdle;
        this.sweep = sweep;
    }

    /** Ensures that the action runs: something has a deadline. */
    void wake() {
        if (sweeping.get() || !sweeping.compareAndSet(false, true)) {
            return;
        }
        try {
            Thread.ofPlatform().daemon().name("nexus-deadlines").start(this::run);
        } catch (Throwable e) { // out of memory for a thread: the next call of wake starts it
            sweeping.set(false);
            throw e;
        }
    }

    private void run() {
        do {
            for (int idle = 0; idle < IDLE_SWEEPS; idle++) {
                try {
                    pause();
                    if (!isIdle.getAsBoolean()) {
                        idle = 0;
                        sweep.accept(System.nanoTime());
                    }
                } catch (Throwable _) { // out of memory, perhaps even for the error message
                    Thread.yield();
                }
            }
            sweeping.set(false);
        } while (!isIdle.getAsBoolean() && sweeping.compareAndSet(false, true));
    }

    /** Parks for the whole interval, even if an action has left the thread interrupted or with a park permit. */
    private void pause() {
        long startNs = System.nanoTime();
        for (long leftNs = SWEEP_NS; leftNs > 0; leftNs = SWEEP_NS - (System.nanoTime() - startNs)) {
            boolean _ = Thread.interrupted();
            LockSupport.parkNanos(this, leftNs);
        }
    }
}
