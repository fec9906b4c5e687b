package io.madeleine.mpi.device;

import io.madeleine.api.Signal;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Threads that wait for operations and messages.
 *
 * <p>Threading: thread-safe.
 */
final class Waiting {
    private final Signal signal;
    private final MemoryShortage shortage;

    Waiting(Signal signal, MemoryShortage shortage) {
        this.signal = signal;
        this.shortage = shortage;
    }

    /** Waits until the operation is done. */
    void await(Operation operation) {
        if (!operation.isDone()) {
            awaitCondition(operation, operation.expected());
        }
    }

    /**
     * Waits until a condition holds that a message makes true, or that {@link #signal} announces.
     *
     * @param expected the rank whose message is expected, or -1
     */
    void awaitCondition(BooleanSupplier condition, int expected) {
        while (!await(condition, expected, 1, TimeUnit.HOURS)) {
            Thread.onSpinWait(); // there is no bound but the loss of a peer, which ends the operation
        }
    }

    /** As {@link #awaitCondition}, no longer than this time; returns whether the condition holds. */
    boolean awaitCondition(BooleanSupplier condition, long timeout, TimeUnit unit) {
        return await(condition, -1, timeout, unit);
    }

    private boolean await(BooleanSupplier condition, int expected, long timeout, TimeUnit unit) {
        try {
            return signal.await(condition, expected, timeout, unit);
        } catch (OutOfMemoryError e) {
            shortage.hinders(e);
            throw e;
        }
    }

    /** Makes waiting threads look at their conditions. */
    void signal() {
        signal.signal();
    }
}
