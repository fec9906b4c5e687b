package io.madeleine.nexus;

import io.madeleine.api.Session;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs threaded handlers and typed calls, each in a virtual thread of its own or in the user's executor; their number
 * is bounded.
 *
 * <p>Threading: thread-safe.
 */
final class Workers {
    private final int max;
    private final Executor executor;
    private final AtomicInteger running = new AtomicInteger();

    Workers(ContextOptions options, Session session) {
        this.max = options.maxRunning();
        this.executor = options.executor().orElseGet(() -> session.virtualThreads("nexus-" + session.rank() + "-"));
    }

    /**
     * Starts a task, which must call {@link #done} at its end; false if too many run, or if the executor rejects it.
     */
    boolean tryExecute(Runnable task) {
        if (running.incrementAndGet() > max) {
            running.decrementAndGet();
            return false;
        }
        try {
            executor.execute(task);
            return true;
        } catch (RejectedExecutionException _) {
            running.decrementAndGet();
            return false;
        } catch (Throwable e) {
            running.decrementAndGet();
            throw e;
        }
    }

    void done() {
        running.decrementAndGet();
    }

    int runningCount() {
        return running.get();
    }
}
