package io.madeleine.tm.tcp;

/**
 * Tells a dense stream from a conversation: several messages in a row, each right behind the one before. The clock is read
 * only where nothing has come from the peer since the last message, or a stream is on, so that a round trip does not pay.
 *
 * <p>Threading: guarded by the lock of the sender.
 */
final class Density {
    /** So many messages in a row make a stream; before that each leaves at once. */
    static final int RUN = 8;

    /** A stream brings at least so many messages within the time they may be kept. */
    private static final int MESSAGES_PER_KEEP = 4;

    /** A wait of the sender that finds fewer than so many kept is one for an answer. */
    private static final int CONVERSATION = 4;

    private final long gapNs;
    private int run;
    private int heard;
    private long lastNs;

    Density(long coalesceNs) {
        this.gapNs = coalesceNs / MESSAGES_PER_KEEP;
    }

    /**
     * Counts a message; returns whether it belongs to a dense stream, and the clock has been read ({@link #nowNs}) then.
     *
     * @param heardPackets how many packets have come from the peer, in any terms
     */
    boolean next(int heardPackets) {
        if (gapNs == 0 || (run < RUN && heard != heardPackets)) {
            heard = heardPackets;
            return false;
        }
        heard = heardPackets;
        long nowNs = System.nanoTime();
        run = nowNs - lastNs < gapNs ? Math.min(run + 1, RUN) : 0;
        lastNs = nowNs;
        return run == RUN;
    }

    /** When the last message came whose time was looked at. */
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
