package io.madeleine.admission;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Limits warnings that unauthenticated peers can cause to one a second, so that they cannot fill the log.
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

    /** Warns through this logger, with this prefix. */
    public NoticeLimit(Logger logger, String prefix) {
        this.logger = logger;
        this.prefix = prefix;
    }

    /** Logs a warning, unless one was logged within the last second. */
    public void warn(String what) {
        warn(what, System.nanoTime());
    }

    /** As {@link #warn(String)} at a given time, in {@link System#nanoTime()} terms. */
    public void warn(String what, long nowNs) {
        long all = closed ? 0 : admitted(nowNs);
        if (all > 0) {
            logger.log(Level.WARNING, prefix + what + " (" + all + " so far)");
        }
    }

    /** Returns how many warnings there have been if this one may be logged, otherwise 0. */
    private synchronized long admitted(long nowNs) {
        if (++count > 1 && nowNs - loggedNs < INTERVAL_NS) {
            return 0;
        }
        loggedNs = nowNs;
        return count;
    }

    /** Logs nothing more. */
    public void close() {
        closed = true;
    }
}
