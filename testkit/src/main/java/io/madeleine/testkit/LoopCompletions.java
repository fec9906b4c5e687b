package io.madeleine.testkit;

import io.madeleine.pmm.spi.Demand;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Has an adapter polled while something that it posted is under way, also if nobody waits: what a NIC does by itself, the
 * adapter's polls do here, some time later.
 *
 * <p>Threading: thread-safe; {@link #poll} by who polls.
 */
final class LoopCompletions {
    private static final long MOVES_AFTER_NS = 50_000;
    private static final long LOOKS_AFTER_NS = 1_000_000;

    private final LoopFabric fabric;
    private final Demand demand;
    private final BooleanSupplier isUnderWay;
    private final AtomicBoolean expected = new AtomicBoolean();
    private volatile long dueNs;

    LoopCompletions(LoopFabric fabric, Demand demand, BooleanSupplier isUnderWay) {
        this.fabric = fabric;
        this.demand = demand;
        this.isUnderWay = isUnderWay;
    }

    /** Something has been posted. */
    void expect() {
        if (expected.get()) {
            return;
        }
        dueAt(System.nanoTime() + MOVES_AFTER_NS);
        demand.hold();
        if (!expected.compareAndSet(false, true)) {
            demand.release(); // another thread was faster
        }
    }

    private void dueAt(long deadlineNs) {
        dueNs = deadlineNs;
        demand.dueAt(deadlineNs);
    }

    /** Whether it is time for all that is under way; before, some of it may move. */
    boolean isDue(long nowNs) {
        return expected.get() && nowNs - dueNs >= 0;
    }

    /** After what was posted could move: looks whether there is more. */
    void poll(long nowNs) {
        if (!expected.get()) {
            return;
        }
        if (isUnderWay.getAsBoolean()) {
            if (isDue(nowNs)) {
                dueAt(nowNs + (fabric.isStill() ? LOOKS_AFTER_NS : MOVES_AFTER_NS));
            }
            return;
        }
        expected.set(false);
        demand.release();
        if (isUnderWay.getAsBoolean()) { // posted meanwhile, by who saw it expected
            expect();
        }
    }

    void close() {
        demand.close();
    }
}
