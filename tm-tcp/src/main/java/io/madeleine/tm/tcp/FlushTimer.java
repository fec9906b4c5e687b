package io.madeleine.tm.tcp;

import java.util.concurrent.locks.LockSupport;

/**
 * How the thread sleeps that brings writes about. A timer that is late takes its processor about as long as it is late:
 * where it wakes 30 us late, as virtual machines do, to wake every 20 us takes more than half of a processor, most likely the
 * sender's. So while streams go on by themselves the thread sleeps some times as long as its sleeps have been late; where
 * timers are punctual that is no longer than it should be.
 *
 * <p>Threading: confined to that thread.
 */
final class FlushTimer {
    /** So many times its lateness a sleep lasts: a seventh of a processor at most. */
    private static final int WORTH = 6;

    /** So many times as long as it should, a sleep may last. */
    private static final int MOST = 16;

    /** How many sleeps the measured lateness looks back. */
    private static final int MEMORY = 8;

    private final long coalesceNs;
    private long lateNs;

    FlushTimer(long coalesceNs) {
        this.coalesceNs = coalesceNs;
    }

    /** How long to sleep while streams go on by themselves. */
    long patienceNs() {
        return Math.clamp(WORTH * lateNs, coalesceNs, MOST * coalesceNs);
    }

    /** Sleeps for so long, or until woken. */
    void sleep(long ns) {
        long beforeNs = System.nanoTime();
        LockSupport.parkNanos(this, ns);
        slept(ns, System.nanoTime() - beforeNs);
    }

    /** A sleep has lasted so long. */
    void slept(long askedNs, long tookNs) {
        if (tookNs >= askedNs) { // else somebody woke it
            long nowLateNs = Math.min(tookNs - askedNs, MOST * coalesceNs / WORTH);
            lateNs += (nowLateNs - lateNs) / MEMORY;
        }
    }
}
