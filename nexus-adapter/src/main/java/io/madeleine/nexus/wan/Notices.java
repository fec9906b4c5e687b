package io.madeleine.nexus.wan;

import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Warnings about strangers, one a second: they must not be able to fill the log.
 *
 * <p>Threading: thread-safe.
 */
final class Notices {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.nexus");
    private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    private long count;
    private long loggedNs;
    private volatile boolean closed;

    /** Warns, if it may be told now. */
    void note(String what) {
        long all = closed ? 0 : notable();
        if (all > 0) {
            LOGGER.log(Level.WARNING, what + " (" + all + " so far)");
        }
    }

    /** How many there have been if it may be told now, or else 0. */
    private synchronized long notable() {
        long nowNs = System.nanoTime();
        if (++count > 1 && nowNs - loggedNs < INTERVAL_NS) {
            return 0;
        }
        loggedNs = nowNs;
        return count;
    }

    /** Nothing is told any more. */
    void close() {
        closed = true;
    }
}
