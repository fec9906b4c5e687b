package io.madeleine.session;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Warnings that strangers can bring about: one a second, so that they cannot fill the log.
 *
 * <p>Threading: thread-safe.
 */
final class NoticeLimit {
    private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    private final Logger logger;
    private long count;
    private long loggedNs;

    NoticeLimit(Logger logger) {
        this.logger = logger;
    }

    /** Warns, unless that has been done within the last second. */
    void warn(String what) {
        long all = admitted();
        if (all > 0) {
            logger.log(Level.WARNING, what + " (" + all + " so far)");
        }
    }

    /** How many there have been if one may be logged now, or else 0. */
    private synchronized long admitted() {
        long nowNs = System.nanoTime();
        if (++count > 1 && nowNs - loggedNs < INTERVAL_NS) {
            return 0;
        }
        loggedNs = nowNs;
        return count;
    }
}
