package io.madeleine.nexus;

import io.madeleine.api.Session;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs threaded handlers and typed calls, each in a virtual thread of its own or in the user's executor; their number
 * is bounded. A call that has ended and is being answered gives its place to the next call, which its caller may make
 * as soon as it has the answer; answers have a bound of their own.
 *
 * <p>Threading: thread-safe.
 */
final class Workers {
    /** Answers that leave at once are few; so this many are of callers that do not take them. */
    private static final int LEAST_ANSWERS = 64;

    private final int max;
    private final int maxAnswers;
    private final Executor executor;
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger answering = new AtomicInteger();

    Workers(ContextOptions options, Session session) {
        this.max = options.maxRunning();
        this.maxAnswers = Math.max(max, LEAST_ANSWERS);
        this.executor = options.executor().orElseGet(() -> session.virtualThreads("nexus-" + session.rank() + "-"));
    }

    /**
     * Starts a task, which must call {@link #done} at its end, or {@link #answers} and {@link #answered}; false if too
     * many run or are being answered, or if the executor rejects it.
     */
    boolean tryExecute(Runnable task) {
        if (running.incrementAndGet() > max || answering.get() >= maxAnswers) {
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

    /** A call has ended; from now on it only sends its answer. */
    void answers() {
        answering.incrementAndGet();
        running.decrementAndGet();
    }

    /** The answer has left, or nobody waits for it. */
    void answered() {
        answering.decrementAndGet();
    }

    /** Those that run and those that are being answered. */
    int runningCount() {
        return running.get() + answering.get();
    }
}
