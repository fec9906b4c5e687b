package io.madeleine.tm.tcp;

import java.util.function.LongSupplier;

/**
 * Tells a dense stream from a conversation: several messages in a row, each right behind the one before. What counts is the
 * time between the end of one call and the next, not what a write in between takes: writing what was kept takes longer
 * than the messages of a dense stream are apart. The clock is read only where nothing has come from the peer since the
 * last message, or a stream is on, so that a round trip does not pay.
 *
 * <p>Threading: guarded by the lock of the sender.
 */
final class Density {
    /** So many messages in a row make a stream; before that each leaves at once. */
    static final int RUN = 8;

    /** A stream that has lasted is taken for ended after some pauses, not after one: any thread loses its processor at times. */
    private static final int LONGEST_RUN = 2 * RUN;

    /** So many messages of the run a pause counts for. */
    private static final int PAUSE = RUN / 2;

    /** A stream brings at least so many messages within the time they may be kept. */
    private static final int MESSAGES_PER_KEEP = 4;

    /** A wait of the sender that finds fewer than so many kept is one for an answer. */
    private static final int CONVERSATION = 4;

    private final long gapNs;
    private final LongSupplier clock;
    private int run;
    private int heard;
    private boolean timed;
    private long lastNs;

    Density(long coalesceNs) {
        this(coalesceNs, System::nanoTime);
    }

    /** With another clock, of nanoseconds. */
    Density(long coalesceNs, LongSupplier clock) {
        this.gapNs = coalesceNs / MESSAGES_PER_KEEP;
        this.clock = clock;
    }

    /**
     * Counts a message; returns whether it may be kept: it belongs to a dense stream and is right behind the one before. The
     * clock has been read ({@link #nowNs}) then.
     *
     * @param heardPackets how many packets have come from the peer, in any terms
     */
    boolean next(int heardPackets) {
        if (gapNs == 0 || (run < RUN && heard != heardPackets)) {
            heard = heardPackets;
            timed = false;
            return false;
        }
        heard = heardPackets;
        timed = true;
        long nowNs = clock.getAsLong();
        boolean close = nowNs - lastNs < gapNs;
        lastNs = nowNs;
        if (close) {
            run = Math.min(run + 1, LONGEST_RUN);
            return run >= RUN;
        }
        run = Math.max(0, run - PAUSE);
        return false;
    }

    /** The message counted last has been written: from now on its sender is its own master again. */
    void written() {
        if (timed) {
            lastNs = clock.getAsLong();
        }
    }

    /** When the last message came whose time was looked at, or its write was over. */
    long nowNs() {
        return lastNs;
    }

    /** The sender waits, and so many messages had been kept. */
    void waits(int keptMessages) {
        if (keptMessages < CONVERSATION) {
            run = 0;
        }
    }
}
