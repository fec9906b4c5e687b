package io.madeleine.tm.via.port;

import io.madeleine.pmm.spi.Demand;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the outstanding operations, keeps their number below the provider's limit, and holds a {@link Demand} while
 * there are any: then the engine polls even if no thread waits. The demand is dropped a while after the last operation,
 * so that a conversation takes it once.
 *
 * <p>Threading: any thread may begin and end operations; {@link #look} belongs to the thread that polls.
 */
public final class Outstanding {
    private static final long LINGER_NS = 2_000_000;
    private static final long LONGEST_POLL_NS = 10_000_000;
    private static final int SHARE = 8;

    private final Demand demand;
    private final int limit;
    private final long pollEveryNs;
    private final AtomicInteger count = new AtomicInteger();
    private volatile boolean held;
    private boolean quiet;
    private long quietSinceNs;

    Outstanding(Demand demand, int limit, long pollEveryNs) {
        this.demand = demand;
        this.limit = limit;
        this.pollEveryNs = pollEveryNs;
    }

    /** Begins an operation; false if there are too many. */
    boolean begin() {
        if (count.incrementAndGet() > limit) {
            count.decrementAndGet();
            return false;
        }
        need();
        return true;
    }

    /** Something needs polls, for which {@link #begin} has been called, or which {@link #look} will be told. */
    public void need() {
        if (!held) {
            holdSlowPath();
        }
    }

    private synchronized void holdSlowPath() {
        if (!held) {
            held = true;
            demand.hold();
            demand.dueAt(System.nanoTime() + pollEveryNs);
        }
    }

    /** A thread polls without the lead. */
    void polledAside() {
        demand.polledAside();
    }

    /** An operation has completed. */
    void end() {
        count.decrementAndGet();
    }

    /** How many operations are outstanding. */
    public int count() {
        return count.get();
    }

    /**
     * Sets the time of the next poll, or drops the demand when nothing has needed it for a while.
     *
     * @param othersNeedIt whether anything but operations needs polls
     * @param idleNs the time since the last event: the longer, the rarer the polls
     */
    void look(long nowNs, boolean othersNeedIt, long idleNs) {
        if (!held) {
            return;
        }
        boolean isQuiet = count.get() == 0 && !othersNeedIt;
        if (!isQuiet) {
            quiet = false;
            demand.dueAt(nowNs + Math.clamp(idleNs / SHARE, pollEveryNs, LONGEST_POLL_NS));
        } else if (!quiet) {
            quiet = true;
            quietSinceNs = nowNs;
            demand.dueAt(nowNs + LINGER_NS);
        } else if (nowNs - quietSinceNs >= LINGER_NS) {
            dropSlowPath();
        } else {
            demand.dueAt(quietSinceNs + LINGER_NS);
        }
    }

    private synchronized void dropSlowPath() {
        held = false;
        quiet = false;
        demand.release();
        if (count.get() > 0) { // an operation has begun meanwhile
            holdSlowPath();
        }
    }

    void close() {
        demand.close();
    }
}
