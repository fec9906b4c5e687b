package io.madeleine.pmm;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Logs failures that may come again without end: one that differs from the last at once, with its stack; one like the last at
 * most once a second, with the number of those left out in between.
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

    /** Writes to a logger. */
    public FailureLog(Logger logger) {
        this.logger = logger;
    }

    /** Something failed as nobody expects. This never does: who calls it has to go on, also where memory is short. */
    public void error(String what, Throwable failure) {
        try {
            log(what, failure);
        } catch (Throwable _) { // as little as what was to be logged does a log's failure end what others wait for
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

    /** How many were left out before this one, which is to be logged; or -1: it is left out, too. */
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

    /** From the same place: what the messages say of numbers and bytes does not count, nor who called. */
    private boolean isLikeLast(Throwable failure, StackTraceElement[] stack) {
        int frames = Math.min(COMPARED_FRAMES, stack.length);
        int lastFrames = Math.min(COMPARED_FRAMES, lastStack.length);
        return lastKind == failure.getClass() && Arrays.equals(stack, 0, frames, lastStack, 0, lastFrames);
    }
}
