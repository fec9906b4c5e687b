package io.madeleine.pmm;

import java.util.function.LongSupplier;

/**
 * Tells a dense stream from a request-response exchange. A stream is dense after several messages in a row, each sent
 * shortly after the one before. The pause between the end of one call and the next message counts, not the time of the
 * write in between: to write a batch takes longer than the gap between two messages of a dense stream. The clock is
 * read only if the peer has sent nothing since the last message, or during a stream; so a round trip does not pay for
 * it.
 *
 * <p>Threading: guarded by a lock of its user.
 */
public final class StreamDetector {
    /** The number of consecutive messages that make a stream dense; before that each message leaves at once. */
    public static final int RUN = 8;

    /**
     * The upper bound of the run. A long stream ends after several pauses, not after one: any thread loses its
     * processor now and then.
     */
    private static final int LONGEST_RUN = 2 * RUN;

    /** The number of messages that a pause subtracts from the run. */
    private static final int PAUSE = RUN / 2;

    /** The least number of messages that a dense stream sends within the coalescing time. */
    private static final int MESSAGES_PER_KEEP = 4;

    /** A stream is fast if two looks at the clock are closer than this part of the gap that ends it. */
    private static final int FAST = 8;

    /** If the sender waits after fewer messages than this, it expects an answer, and the stream ends. */
    private static final int CONVERSATION = 4;

    private final long gapNs;
    private final LongSupplier clock;
    private int run;
    private int heard;
    private boolean timed;
    private boolean fast;
    private long lastNs;

    /**
     * A detector for an output that holds messages back for so long at most, in nanoseconds; 0 for one that holds none
     * back.
     */
    public StreamDetector(long coalesceNs) {
        this(coalesceNs, System::nanoTime);
    }

    /** With a given clock, in nanoseconds. */
    public StreamDetector(long coalesceNs, LongSupplier clock) {
        this.gapNs = coalesceNs / MESSAGES_PER_KEEP;
        this.clock = clock;
    }

    /**
     * Counts a message. Returns whether it may be held back: it belongs to a dense stream and follows the message
     * before without a pause. If so, {@link #nowNs} is the current time.
     *
     * @param heardPackets the number of packets received from the peer so far; only changes of it matter
     */
    public boolean next(int heardPackets) {
        if (gapNs == 0 || (run < RUN && heard != heardPackets)) {
            heard = heardPackets;
            timed = false;
            return false;
        }
        heard = heardPackets;
        timed = true;
        long nowNs = clock.getAsLong();
        boolean close = nowNs - lastNs < gapNs;
        fast = nowNs - lastNs < gapNs / FAST;
        lastNs = nowNs;
        if (close) {
            run = Math.min(run + 1, LONGEST_RUN);
            return run >= RUN;
        }
        run = Math.max(0, run - PAUSE);
        return false;
    }

    /**
     * Whether the stream is dense and messages follow each other so fast that some may pass without {@link #next}. It
     * reads the clock, which takes about as long as all else that a held-back message needs.
     */
    public boolean isFast() {
        return fast && run >= RUN;
    }

    /** Ends the write of the last message: the gap to the next message counts from now on. */
    public void written() {
        if (timed) {
            lastNs = clock.getAsLong();
        }
    }

    /** The last time that was read: of the last timed message, or of the end of its write. */
    public long nowNs() {
        return lastNs;
    }

    /** Tells that the sender waits after {@code keptMessages} messages that were held back. */
    public void waits(int keptMessages) {
        if (keptMessages < CONVERSATION) {
            run = 0;
        }
    }
}
