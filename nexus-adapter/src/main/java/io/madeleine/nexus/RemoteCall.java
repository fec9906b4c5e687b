package io.madeleine.nexus;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The call that the current thread carries out for another process. Calls that it makes itself inherit the deadline.
 *
 * <p>Threading: thread-safe.
 */
public final class RemoteCall {
    private static final ScopedValue<RemoteCall> CURRENT = ScopedValue.newInstance();

    private final int caller;
    private final long deadlineNs;
    private @Nullable Thread thread;
    private volatile boolean cancelled;

    RemoteCall(int caller, long deadlineNs) {
        this.caller = caller;
        this.deadlineNs = deadlineNs;
    }

    /** The call that this thread carries out, if it does. */
    public static Optional<RemoteCall> current() {
        return CURRENT.isBound() ? Optional.of(CURRENT.get()) : Optional.empty();
    }

    /** The deadline that calls of this thread inherit, in {@link System#nanoTime} terms; otherwise {@code unless}. */
    static long inheritedDeadlineNs(long unless) {
        if (!CURRENT.isBound()) {
            return unless;
        }
        long inherited = CURRENT.get().deadlineNs;
        return inherited - unless < 0 ? inherited : unless;
    }

    /** The rank of the caller. */
    public int caller() {
        return caller;
    }

    /** How much time is left, in nanoseconds; 0 or less when nobody waits for the result any more. */
    public long remainingNs() {
        return deadlineNs - System.nanoTime();
    }

    /** Whether the caller has given up, or is gone; the thread is interrupted then as well. */
    public boolean isCancelled() {
        return cancelled;
    }

    /** Runs a task as this call; an interrupt that is meant for the call ends with it. */
    void run(Runnable task) {
        synchronized (this) {
            thread = Thread.currentThread();
            if (cancelled) {
                Thread.currentThread().interrupt();
            }
        }
        try {
            ScopedValue.where(CURRENT, this).run(task);
        } finally {
            synchronized (this) {
                thread = null;
                Thread.interrupted();
            }
        }
    }

    synchronized void cancel() {
        cancelled = true;
        if (thread != null) {
            thread.interrupt();
        }
    }
}
