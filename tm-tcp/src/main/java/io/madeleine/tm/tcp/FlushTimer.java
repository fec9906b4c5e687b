package io.madeleine.tm.tcp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    private static final System.Logger LOGGER = System.getLogger("io.madeleine.tm.tcp");

    private final long coalesceNs;
    private long lateNs;

    FlushTimer(long coalesceNs) {
        this.coalesceNs = coalesceNs;
    }

    /** Linux lets a sleep last 50 us longer than asked, to wake for several at once; a thread may ask it not to. */
    static void sharpen() {
        try {
            Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
            Files.writeString(Path.of("/proc/" + self.getFileName() + "/timerslack_ns"), "1000");
        } catch (IOException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the timer of coalescing stays coarse: " + e);
        }
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
