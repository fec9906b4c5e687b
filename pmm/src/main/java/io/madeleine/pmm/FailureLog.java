package io.madeleine.pmm;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Logs failures that may repeat without end. The first failure of a kind is logged at once, with its stack; the others
 * of that kind at most once a second, with the number of those that were left out. Failures are of one kind if they
 * have the same class and come from the same place. However many kinds alternate, at most {@value #MOST_PER_PAUSE}
 * entries a second are logged.
 *
 * <p>Threading: thread-safe.
 */
public final class FailureLog {
    private static final long PAUSE_NS = 1_000_000_000;
    private static final int COMPARED_FRAMES = 8;
    private static final int MOST_PER_PAUSE = 10;

    private final Logger logger;
    private final @Nullable Kind[] kinds = new Kind[2 * MOST_PER_PAUSE];
    private long windowNs = System.nanoTime() - PAUSE_NS;
    private int loggedInWindow;

    /** The failures from one place. */
    private static final class Kind {
        final Class<?> failure;
        final StackTraceElement[] stack;
        long lastNs;
        long leftOut;

        Kind(Class<?> failure, StackTraceElement[] stack) {
            this.failure = failure;
            this.stack = stack;
        }

        /** Messages are not compared, because of numbers in them, nor are outer callers. */
        boolean isOf(Throwable other, StackTraceElement[] otherStack) {
            int frames = Math.min(COMPARED_FRAMES, stack.length);
            int otherFrames = Math.min(COMPARED_FRAMES, otherStack.length);
            return failure == other.getClass() && Arrays.equals(stack, 0, frames, otherStack, 0, otherFrames);
        }
    }

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
     * Returns how many failures of this kind were left out before this one, which is to be logged; -1 if this one is
     * left out too.
     */
    private synchronized long admit(Throwable failure, long nowNs) {
        Kind kind = kindOf(failure, nowNs);
        if (nowNs - windowNs >= PAUSE_NS) {
            windowNs = nowNs;
            loggedInWindow = 0;
        }
        if (nowNs - kind.lastNs < PAUSE_NS || loggedInWindow == MOST_PER_PAUSE) {
            kind.leftOut++;
            return -1;
        }
        loggedInWindow++;
        long before = kind.leftOut;
        kind.lastNs = nowNs;
        kind.leftOut = 0;
        return before;
    }

    /** The kind of a failure; a new one takes the place of the one that was logged longest ago. */
    private Kind kindOf(Throwable failure, long nowNs) {
        StackTraceElement[] stack = failure.getStackTrace();
        int place = 0;
        for (int i = 0; i < kinds.length; i++) {
            Kind known = kinds[i];
            if (known == null) {
                place = i;
                break;
            }
            if (known.isOf(failure, stack)) {
                return known;
            }
            Kind replaced = kinds[place];
            if (replaced != null && known.lastNs - replaced.lastNs < 0) {
                place = i;
            }
        }
        Kind made = new Kind(failure.getClass(), stack);
        made.lastNs = nowNs - PAUSE_NS;
        kinds[place] = made;
        return made;
    }
}
