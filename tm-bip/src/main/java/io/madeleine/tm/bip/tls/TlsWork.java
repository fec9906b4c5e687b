package io.madeleine.tm.bip.tls;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The thread that signs and verifies: that takes a millisecond or more, which the thread that polls cannot afford.
 *
 * <p>Threading: thread-safe.
 */
class TlsWork implements AutoCloseable {
    /**
     * If so many exchanges wait, one that a stranger begins is not served; its peer may call again. If all waited,
     * those at the front would have been given up before their turn.
     */
    static final int MOST_WAITING = 64;

    private final ThreadPoolExecutor thread = new ThreadPoolExecutor(
            1,
            1,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("madeleine-bip-tls").factory());

    TlsWork() {
        thread.allowCoreThreadTimeOut(true);
    }

    boolean isCrowded() {
        return waitingCount() >= MOST_WAITING;
    }

    int waitingCount() {
        return thread.getQueue().size();
    }

    /** @throws RejectedExecutionException if this is closed */
    void execute(Runnable task) {
        thread.execute(task);
    }

    /** The task is not run, unless it has begun. */
    void withdraw(Runnable task) {
        boolean _ = thread.remove(task);
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
