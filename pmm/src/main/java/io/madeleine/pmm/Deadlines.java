package io.madeleine.pmm;

import java.util.concurrent.TimeUnit;

/**
 * Deadlines in {@link System#nanoTime()} terms, as {@link ProgressEngine#await} takes them.
 *
 * <p>Threading: stateless.
 */
public final class Deadlines {
    private Deadlines() {}

    /** The deadline so long from now; a negative time is none at all, and a very long one is {@link ProgressEngine#NO_DEADLINE}. */
    public static long after(long timeout, TimeUnit unit) {
        long timeoutNs = unit.toNanos(timeout);
        if (timeoutNs >= Long.MAX_VALUE / 2) {
            return ProgressEngine.NO_DEADLINE;
        }
        long deadlineNs = System.nanoTime() + Math.max(0, timeoutNs);
        return deadlineNs == ProgressEngine.NO_DEADLINE ? deadlineNs - 1 : deadlineNs;
    }
}
