package io.madeleine.pmm;

import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Deadlines in {@link System#nanoTime()} terms, as {@link ProgressEngine#await} takes them.
 *
 * <p>Threading: stateless.
 */
public final class Deadlines {
    /** A deadline in the past, for calls that do not wait; saves reading the clock. */
    private static final long PAST = past();

    private Deadlines() {}

    private static long past() {
        long now = System.nanoTime();
        return now == ProgressEngine.NO_DEADLINE ? now - 1 : now;
    }

    /**
     * The deadline after this time; for 0 or less one in the past, for a very long time {@link
     * ProgressEngine#NO_DEADLINE}.
     */
    public static long after(long timeout, TimeUnit unit) {
        Objects.requireNonNull(unit, "unit");
        if (timeout <= 0) {
            return PAST;
        }
        long timeoutNs = unit.toNanos(timeout);
        if (timeoutNs >= Long.MAX_VALUE / 2) {
            return ProgressEngine.NO_DEADLINE;
        }
        long deadlineNs = System.nanoTime() + timeoutNs;
        return deadlineNs == ProgressEngine.NO_DEADLINE ? deadlineNs - 1 : deadlineNs;
    }
}
