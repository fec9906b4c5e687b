package io.madeleine.nexus;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Looks every 10 ms at what has deadlines, while there is something.
 *
 * <p>Threading: thread-safe; a virtual thread looks.
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
        Thread.ofVirtual().name("nexus-deadlines").start(() -> {
            do {
                for (int idle = 0; idle < IDLE_SWEEPS; idle++) {
                    LockSupport.parkNanos(SWEEP_NS);
                    if (!isIdle.getAsBoolean()) {
                        idle = 0;
                        sweep.accept(System.nanoTime());
                    }
                }
                sweeping.set(false);
            } while (!isIdle.getAsBoolean() && sweeping.compareAndSet(false, true));
        });
    }
}
