package io.madeleine.bench.measure;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How much longer than its user asks a measurement warms up: until the JVM has compiled nothing for a while. A process
 * that is tied to a processor shares it with its compilers, which then take the longer for what is measured.
 *
 * <p>Threading: confined to caller.
 */
final class Settling {
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(300);

    /** Brief measurements watch for less: else they would always take all the time that they may. */
    private static final int QUIET_SHARE = 4;

    private static final @Nullable CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

    private final long mostNs;
    private final long quietNs;
    private final LongSupplier compiledMs;
    private long seenMs = -1;
    private long changedNs;
    private long dueNs = -1;
    private long lateNs;

    /**
     * Nothing has been measured yet.
     *
     * @param mostNs how much longer at most
     * @param compiledMs how long the JVM has compiled until now; any unit
     */
    Settling(long mostNs, LongSupplier compiledMs) {
        this.mostNs = mostNs;
        this.quietNs = Math.min(QUIET_NS, mostNs / QUIET_SHARE);
        this.compiledMs = compiledMs;
    }

    /** How long this JVM has compiled; always the same where it does not tell. */
    static long compiledMs() {
        return COMPILER != null && COMPILER.isCompilationTimeMonitoringSupported()
                ? COMPILER.getTotalCompilationTime()
                : 0;
    }

    /**
     * Whether warming up goes on.
     *
     * @param elapsedNs since it began
     * @param early whether it would without this
     */
    boolean goesOn(long elapsedNs, boolean early) {
        if (mostNs == 0) {
            return early;
        }
        long nowMs = compiledMs.getAsLong();
        if (nowMs != seenMs) {
            seenMs = nowMs;
            changedNs = elapsedNs;
        }
        if (early) {
            return true;
        }
        if (dueNs < 0) {
            dueNs = elapsedNs;
        }
        lateNs = elapsedNs - dueNs;
        return lateNs < mostNs && elapsedNs - changedNs < quietNs;
    }

    /** How much longer it was. */
    long lateNs() {
        return lateNs;
    }
}
