package io.madeleine.tm.tcp.stream;

import java.util.concurrent.locks.LockSupport;

/**
 * Chooses the sleep time of the coalescing timer thread. A late wake-up occupies the processor for about as long as it
 * is late: where timers are 30 us late, as in virtual machines, a wake-up every 20 us takes more than half of a
 * processor, probably that of the sender. Therefore, while streams write without the timer's help, a sleep lasts a
 * multiple of the measured lateness. Where timers are punctual that is no longer than the coalescing time.
 *
 * <p>Threading: confined to the timer thread.
 */
final class FlushTimer {
    /** The ratio of sleep time to lateness: the timer takes at most a seventh of a processor. */
    private static final int WORTH = 6;

    /** The longest sleep, in multiples of the coalescing time. */
    private static final int MOST = 16;

    /** The number of sleeps over which the lateness is averaged. */
    private static final int MEMORY = 8;

    private final long coalesceNs;
    private long lateNs;

    FlushTimer(long coalesceNs) {
        this.coalesceNs = coalesceNs;
    }

    /** How long to sleep while streams write without the timer's help. */
    long patienceNs() {
        return Math.clamp(WORTH * lateNs, coalesceNs, MOST * coalesceNs);
    }

    /** Sleeps for so long, or until the thread is unparked. */
    void sleep(long ns) {
        long beforeNs = System.nanoTime();
        LockSupport.parkNanos(this, ns);
        slept(ns, System.nanoTime() - beforeNs);
    }

    /** Updates the lateness after a sleep. */
    void slept(long askedNs, long tookNs) {
        if (tookNs >= askedNs) { // else the thread was unparked
            long nowLateNs = Math.min(tookNs - askedNs, MOST * coalesceNs / WORTH);
            lateNs += (nowLateNs - lateNs) / MEMORY;
        }
    }
}
