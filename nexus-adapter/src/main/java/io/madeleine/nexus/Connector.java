package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.WaitInterruptedException;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Makes connections for threads that may be interrupted, or have a deadline. An interrupt ends the socket calls of
 * virtual threads only. So a virtual thread makes the connection, and the caller waits for it.
 *
 * <p>Threading: stateless.
 */
final class Connector {
    static final long NO_DEADLINE = Long.MAX_VALUE;

    private Connector() {}

    /** Makes a connection; ends if its thread is interrupted. */
    @FunctionalInterface
    interface Task<T extends @Nullable Object> {
        T run() throws IOException;
    }

    /**
     * Runs a task in a virtual thread, and interrupts that if the caller gives up.
     *
     * @param untilNs the deadline in {@link System#nanoTime()} terms, or {@link #NO_DEADLINE}
     * @throws WaitInterruptedException if the caller is interrupted, whose status is set again
     * @throws DeadlineExceededException if the deadline passes
     */
    static <T extends @Nullable Object> T run(Task<T> task, long untilNs) throws IOException {
        FutureTask<T> made = new FutureTask<>(task::run);
        Thread worker = Thread.ofVirtual().name("nexus-connect").start(made);
        try {
            return untilNs == NO_DEADLINE
                    ? made.get()
                    : made.get(Math.max(0, untilNs - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            worker.interrupt();
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("interrupted while a connection was made", e);
        } catch (TimeoutException e) {
            worker.interrupt();
            throw new DeadlineExceededException("no connection could be made before the deadline");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IOException io) {
                throw io;
            }
            throw Sneaky.asUnchecked(cause == null ? e : cause);
        }
    }
}
