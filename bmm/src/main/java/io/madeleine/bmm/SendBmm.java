package io.madeleine.bmm;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;

/**
 * Turns the blocks that the switch gives to one link into packets. Nothing here waits: what the link does not take is
 * {@link LinkStatus#PENDING}, and the same call is repeated later.
 *
 * <p>Threading: confined to whoever packs, or later to the leader who finishes the message.
 */
public abstract sealed class SendBmm permits StaticSendBmm, DynamicSendBmm {
    /** Stands in for memory that is gone when a packet that has been announced must be finished. */
    static final MemorySegment FILLER = java.lang.foreign.Arena.global().allocate(64 * 1024, Long.BYTES);

    final SendLedger ledger;
    final boolean endsGroupAtExpress;

    /** How far the block under way has come. */
    long progressBytes;

    /** Memory came to its end within the link. */
    boolean trackLost;

    SendBmm(SendLedger ledger, TransmissionLink link) {
        this.ledger = ledger;
        this.endsGroupAtExpress = link.capabilities().aggregation() == AggregationMode.SYMMETRIC;
    }

    /** The module that suits the link. */
    public static SendBmm forLink(TransmissionLink link, SendLedger ledger, Staging staging) {
        return switch (link) {
            case StaticLink fixed -> new StaticSendBmm(fixed, ledger);
            case DynamicLink dynamic -> new DynamicSendBmm(dynamic, ledger, staging);
        };
    }

    /**
     * Appends a block. While the answer is {@link LinkStatus#PENDING} the call is repeated with the same content (which
     * may lie elsewhere meanwhile).
     *
     * @param mayKeep whether the block may be referenced until the end of the message; if not it is copied
     * @param express whether the receiver wants it before it goes on
     * @return {@link LinkStatus#COMPLETE} once the block is taken: sent, copied, or referenced if it may be
     */
    public abstract int append(MemorySegment block, long offset, long bytes, boolean mayKeep, boolean express);

    /** Appends a block that lies in the ranges of a layout; as {@link #append(MemorySegment, long, long, boolean, boolean)}. */
    public abstract int append(BlockLayout block, boolean mayKeep, boolean express);

    /** How many bytes of the block under way have been taken: sent, copied, or referenced; 0 if none is under way. */
    public final long progressBytes() {
        return progressBytes;
    }

    /** What has not been taken of the block under way is from now on the block: {@link #append} is repeated with that alone. */
    public final void keepRest() {
        progressBytes = 0;
    }

    /**
     * Commits: sends what has been gathered.
     *
     * @return {@link LinkStatus#COMPLETE} once it has left and its memory may be reused
     */
    public abstract int flush();

    /**
     * Sends an empty packet, after what has been gathered.
     *
     * @param flags of {@link io.madeleine.pmm.spi.PacketHeader}
     */
    public abstract int flushMark(int flags);

    /**
     * Commits with the end mark on or right behind the last packet; as {@link #flush()}, and never without a packet. After
     * it {@link #announce()} is called.
     */
    public abstract int flushLast();

    /**
     * Sends a message of one block as one packet, if the link takes that whole and at once: what {@link #append} and {@link #flushLast()}
     * do with it, in one step. Nothing has been gathered before.
     *
     * @return {@link LinkStatus#COMPLETE} if it has left, and {@link #announce()} is called; for any other answer, and if this
     *     throws, nothing has: the block can be appended
     * @throws IllegalStateException if the block's memory has been freed ({@link WrongThreadException} if it is another thread's)
     */
    @SuppressWarnings("unused") // by default
    public int sendWhole(MemorySegment block, long offset, long bytes, boolean express) {
        return LinkStatus.PENDING;
    }

    /** Tells a receiver that sleeps of the message's end. Any thread, also when the next message has begun. */
    public abstract void announce();

    /** Whether anything gathered is not on its way yet, so that an end mark could go with it. */
    public abstract boolean holdsBlocks();

    /** Whether memory of a region is referenced here; as {@link io.madeleine.pmm.spi.BufferGroup#touches} says. */
    public boolean touches(Region region) {
        return false;
    }

    /**
     * Whether memory came to its end within the link, so that nobody knows how far the last call came: it must not be repeated, and
     * nothing else be sent. Where it came to its end before, the call can be repeated.
     */
    public final boolean hasLostTrack() {
        return trackLost;
    }

    /**
     * Whether the end mark is out of reach, in the midst of sending: nothing of the user's memory is needed any more, and the message
     * will arrive whole. It is too late to give it up.
     */
    public boolean isBeyondRecall() {
        return false;
    }

    /**
     * Gives up what has been gathered. A packet under way keeps its length and its EXPRESS blocks, filled up with zeros,
     * and still has to be flushed, now without the user's memory; an end mark that was to follow it becomes an abort mark.
     *
     * @return whether that end mark has taken the place of an abort mark: none is to be sent any more
     */
    public abstract boolean abandon();
}
