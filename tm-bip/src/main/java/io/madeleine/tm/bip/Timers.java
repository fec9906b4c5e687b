package io.madeleine.tm.bip;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Demand;
import io.madeleine.tm.bip.protocol.Endpoint;

/**
 * The time at which the adapter has to be polled next for the sake of its connections. While one of them has a timer,
 * the adapter holds a demand; it keeps the demand a little longer, so that a conversation holds it once and not for
 * each message.
 *
 * <p>Threading: thread-safe; the thread that polls calls {@link #begin} and {@link #end}.
 */
final class Timers {
    /** How long after the last timer the demand is kept. */
    private static final long REST_NS = 5_000_000;

    private final SpinLock lock = new SpinLock();
    private final Demand demand;
    private volatile long dueNs = Endpoint.NONE;
    private volatile boolean held;
    private boolean resting;
    private boolean closed;

    Timers(Demand demand) {
        this.demand = demand;
    }

    /** A connection has to be looked at by this time, which may be {@link Endpoint#NONE}. */
    void note(long whenNs) {
        if (whenNs == Endpoint.NONE || held && isKnown(whenNs)) {
            return;
        }
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (!held) {
                held = true;
                demand.hold();
            }
            if (!isKnown(whenNs)) {
                dueNs = whenNs;
                demand.dueAt(whenNs);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isKnown(long whenNs) {
        long known = dueNs;
        return known != Endpoint.NONE && whenNs - known >= 0;
    }

    boolean isDue(long nowNs) {
        long known = dueNs;
        return known != Endpoint.NONE && nowNs - known >= 0;
    }

    /** The time has come: all connections are asked for their next time. */
    void begin() {
        dueNs = Endpoint.NONE;
    }

    /**
     * All connections have been asked.
     *
     * @return whether the conversation is over
     */
    boolean end(long nowNs) {
        lock.lock();
        try {
            if (dueNs != Endpoint.NONE || !held || closed) {
                resting = false;
                return false;
            }
            if (!resting) {
                resting = true;
                dueNs = nowNs + REST_NS;
                demand.dueAt(dueNs);
                return false;
            }
            resting = false;
            held = false;
            demand.release();
            return true;
        } finally {
            lock.unlock();
        }
    }

    void close() {
        lock.lock();
        try {
            closed = true;
            demand.close();
        } finally {
            lock.unlock();
        }
    }
}
