package io.madeleine.pmm;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Logs failures that may repeat without end. A failure that differs from the last one is logged at once, with its
 * stack; a repeated one at most once a second, with the number of those that were left out.
 *
 * <p>Threading: thread-safe.
 */
public final class FailureLog {
    private static final long PAUSE_NS = 1_000_000_000;
    private static final int COMPARED_FRAMES = 8;

    private final Logger logger;
    private @Nullable Class<?> lastKind;
    private StackTraceElement[] lastStack = {};
    private long lastNs;
    private long leftOut;

    /** A log that writes to this logger. */
    public FailureLog(Logger logger) {
        this.logger = logger;
    }

    /** Logs an unexpected failure. Never throws, even if memory is short: the caller has to go on. */
    public void error(String what, Throwable failure) {
        try {
            log(what, failure);
        } catch (Throwable _) { // a failure of the log must not end the caller's work either
            return;
        }
    }

    private void log(String what, Throwable failure) {
        long before = admit(failure, System.nanoTime());
        if (before >= 0) {
            String count = before == 0 ? "" : " (and " + before + " times like that since this was last logged)";
            logger.log(Level.ERROR, what + count, failure);
        }
    }

    /**
     * Returns how many failures were left out before this one, which is to be logged; -1 if this one is left out too.
     */
    private synchronized long admit(Throwable failure, long nowNs) {
        StackTraceElement[] stack = failure.getStackTrace();
        if (isLikeLast(failure, stack) && nowNs - lastNs < PAUSE_NS) {
            leftOut++;
            return -1;
        }
        long before = leftOut;
        lastKind = failure.getClass();
        lastStack = stack;
        lastNs = nowNs;
        leftOut = 0;
        return before;
    }

    /**
     * Whether both failures come from the same place. Messages are not compared, because of numbers in them, nor are
     * outer callers.
     */
    private boolean isLikeLast(Throwable failure, StackTraceElement[] stack) {
        int frames = Math.min(COMPARED_FRAMES, stack.length);
        int lastFrames = Math.min(COMPARED_FRAMES, lastStack.length);
        return lastKind == failure.getClass() && Arrays.equals(stack, 0, frames, lastStack, 0, lastFrames);
    }
}
