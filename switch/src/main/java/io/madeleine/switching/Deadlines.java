package io.madeleine.switching;

import io.madeleine.pmm.ProgressEngine;
import java.util.concurrent.TimeUnit;

/** Deadlines in {@link System#nanoTime()} terms. */
final class Deadlines {
    private Deadlines() {}

    static long after(long timeout, TimeUnit unit) {
        long timeoutNs = unit.toNanos(timeout);
        if (timeoutNs >= Long.MAX_VALUE / 2) {
            return ProgressEngine.NO_DEADLINE;
        }
        long deadlineNs = System.nanoTime() + Math.max(0, timeoutNs);
        return deadlineNs == ProgressEngine.NO_DEADLINE ? deadlineNs - 1 : deadlineNs;
    }
}
