package io.madeleine.admission;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Warnings that unauthenticated connections can bring about: one a second, so that they cannot fill the log.
 *
 * <p>Threading: thread-safe.
 */
public final class NoticeLimit {
    private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    private final Logger logger;
    private final String prefix;
    private long count;
    private long loggedNs;
    private volatile boolean closed;

    /** Warns through a logger, each time with these words first. */
    public NoticeLimit(Logger logger, String prefix) {
        this.logger = logger;
        this.prefix = prefix;
    }

    /** Warns, unless that has been done within the last second. */
    public void warn(String what) {
        warn(what, System.nanoTime());
    }

    /** The same at a given time, in {@link System#nanoTime()} terms. */
    public void warn(String what, long nowNs) {
        long all = closed ? 0 : admitted(nowNs);
        if (all > 0) {
            logger.log(Level.WARNING, prefix + what + " (" + all + " so far)");
        }
    }

    /** How many there have been if one may be logged now, or else 0. */
    private synchronized long admitted(long nowNs) {
        if (++count > 1 && nowNs - loggedNs < INTERVAL_NS) {
            return 0;
        }
        loggedNs = nowNs;
        return count;
    }

    /** Nothing is told any more. */
    public void close() {
        closed = true;
    }
}
