package io.madeleine.nexus;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Looks every 10 ms at what has deadlines, while there is something. A look that fails, for want of memory say, is not the
 * last one. A virtual thread's could be: the JDK loses one that parks for a time when there is no memory to note that.
 *
 * <p>Threading: thread-safe; a thread of its own looks.
 */
final class Sweeper {
    /** How exactly deadlines are kept that nobody waits for. */
    private static final long SWEEP_NS = 10_000_000;

    private static final int IDLE_SWEEPS = 100;

    private final BooleanSupplier isIdle;
    private final LongConsumer sweep;
    private final AtomicBoolean sweeping = new AtomicBoolean();

    /**
     * Sweeps when told to.
     *
     * @param isIdle whether there is nothing to look at
     * @param sweep looks, and is given the time in {@link System#nanoTime} terms
     */
    Sweeper(BooleanSupplier isIdle, LongConsumer sweep) {
        this.isIdle = isIdle;
        this.sweep = sweep;
    }

    /** There is something to look at. */
    void wake() {
        if (sweeping.get() || !sweeping.compareAndSet(false, true)) {
            return;
        }
        try {
            Thread.ofPlatform().daemon().name("nexus-deadlines").start(this::run);
        } catch (Throwable e) { // no memory for a thread: the next one who comes starts it
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
                } catch (Throwable _) { // not even for an error message
                    Thread.yield();
                }
            }
            sweeping.set(false);
        } while (!isIdle.getAsBoolean() && sweeping.compareAndSet(false, true));
    }

    /** Also if what was run for a deadline has left the thread interrupted: that gives parks a permit besides. */
    private void pause() {
        long startNs = System.nanoTime();
        for (long leftNs = SWEEP_NS; leftNs > 0; leftNs = SWEEP_NS - (System.nanoTime() - startNs)) {
            boolean _ = Thread.interrupted();
            LockSupport.parkNanos(this, leftNs);
        }
    }
}
