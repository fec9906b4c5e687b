package io.madeleine.testkit;

import io.madeleine.pmm.spi.Demand;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Keeps an adapter polled, by a {@link Demand}, while posted operations are pending, even if no thread waits. The
 * adapter's polls do, some time later, what a NIC does by itself.
 *
 * <p>Threading: thread-safe; the polling thread calls {@link #poll}.
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

    /** An operation has been posted. */
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

    /** Whether the deadline has come at which all pending operations move; before it, some of them may. */
    boolean isDue(long nowNs) {
        return expected.get() && nowNs - dueNs >= 0;
    }

    /** Called after posted operations had a chance to move: renews the demand if some are pending, else drops it. */
    void poll(long nowNs) {
        if (!expected.get()) {
            return;
        }
        if (isUnderWay.getAsBoolean()) {
            if (isDue(nowNs)) {
                dueAt(nowNs + (fabric.isStalled() ? LOOKS_AFTER_NS : MOVES_AFTER_NS));
            }
            return;
        }
        expected.set(false);
        demand.release();
        if (isUnderWay.getAsBoolean()) { // posted meanwhile by a thread that still saw the flag set
            expect();
        }
    }

    void close() {
        demand.close();
    }
}
