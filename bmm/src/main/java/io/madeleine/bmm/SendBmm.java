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
 * Turns the blocks that the switch gives to one link into packets. Nothing here waits: if the link does not accept
 * data, the result is {@link LinkStatus#PENDING}, and the caller repeats the same call later.
 *
 * <p>Threading: confined to the thread that packs, and later to the leader that finishes the message.
 */
public abstract sealed class SendBmm permits StaticSendBmm, DynamicSendBmm {
    /** Zeros that replace the user's memory in a packet that must be finished after an abort. */
    static final MemorySegment FILLER = java.lang.foreign.Arena.global().allocate(64 * 1024, Long.BYTES);

    final SendLedger ledger;
    final boolean endsGroupAtExpress;

    /** How many bytes of the current block have been taken. */
    long progressBytes;

    /** An {@link OutOfMemoryError} occurred within the link. */
    boolean stateUnknown;

    SendBmm(SendLedger ledger, TransmissionLink link) {
        this.ledger = ledger;
        this.endsGroupAtExpress = link.capabilities().aggregation() == AggregationMode.SYMMETRIC;
    }

    /** Creates the buffer management module for the link. */
    public static SendBmm forLink(TransmissionLink link, SendLedger ledger, Staging staging) {
        return switch (link) {
            case StaticLink fixed -> new StaticSendBmm(fixed, ledger);
            case DynamicLink dynamic -> new DynamicSendBmm(dynamic, ledger, staging);
        };
    }

    /**
     * Appends a block. While the result is {@link LinkStatus#PENDING}, the caller repeats the call with the same
     * content, which may have moved to other memory meanwhile.
     *
     * <p>Ownership: if {@code mayKeep}, the block is lent until the end of the message; otherwise until this returns
     * COMPLETE.
     *
     * @param mayKeep whether the block may be referenced until the end of the message; if not, it is copied
     * @param express whether the receiver needs the block before it continues
     * @return {@link LinkStatus#COMPLETE} when the block is taken: sent, copied, or referenced if {@code mayKeep}
     */
    public abstract int append(MemorySegment block, long offset, long bytes, boolean mayKeep, boolean express);

    /**
     * As {@link #append(MemorySegment, long, long, boolean, boolean)}, for a block that lies in the ranges of a layout.
     */
    public abstract int append(BlockLayout block, boolean mayKeep, boolean express);

    /** How many bytes of the current block have been taken (sent, copied, or referenced); 0 if there is none. */
    public final long progressBytes() {
        return progressBytes;
    }

    /** Forgets the part of the current block that has been taken: {@link #append} is repeated with the rest alone. */
    public final void keepRest() {
        progressBytes = 0;
    }

    /**
     * Commits: sends the gathered blocks.
     *
     * @return {@link LinkStatus#COMPLETE} when they have left and their memory may be reused
     */
    public abstract int flush();

    /**
     * Sends the gathered blocks, and then an empty packet.
     *
     * @param flags the flags of {@link io.madeleine.pmm.spi.PacketHeader} for the empty packet
     */
    public abstract int flushMark(int flags);

    /**
     * Commits as {@link #flush()}, with the end mark in the last packet or in a packet right behind it; always sends a
     * packet. The caller calls {@link #announce()} afterwards.
     */
    public abstract int flushLast();

    /**
     * Sends a message of one block as one packet, if the link takes it whole and at once: {@link #append} and
     * {@link #flushLast()} in one step. No block has been gathered before.
     *
     * @return {@link LinkStatus#COMPLETE} if it has left; the caller then calls {@link #announce()}. For any other
     *     result, and if this throws, nothing has left, and the caller may append the block
     * @throws IllegalStateException if the block's memory has been freed ({@link WrongThreadException} if it is
     *     confined to another thread)
     */
    @SuppressWarnings("unused") // subclasses use the parameters
    public int sendWhole(MemorySegment block, long offset, long bytes, boolean express) {
        return LinkStatus.PENDING;
    }

    /**
     * Wakes a sleeping receiver for the end of the message. Any thread may call it, even after the next message has
     * begun.
     */
    public abstract void announce();

    /** Whether there are gathered blocks that have not begun to leave, so that an end mark can go in their packet. */
    public abstract boolean holdsBlocks();

    /**
     * Whether a block in the region is referenced; with the guarantees of
     * {@link io.madeleine.pmm.spi.BufferGroup#touches}.
     */
    public boolean touches(Region region) {
        return false;
    }

    /**
     * Whether an {@link OutOfMemoryError} occurred within the link, so that the progress of the last call is unknown:
     * the call must not be repeated, and nothing else may be sent. After an error outside the link the call can be
     * repeated.
     */
    public final boolean isStateUnknown() {
        return stateUnknown;
    }

    /**
     * Whether it is too late to abort the message in the middle of sending: no more of the user's memory is needed, the
     * end mark cannot be changed any more, and the message will arrive whole.
     */
    public boolean isCommitted() {
        return false;
    }

    /**
     * Abandons the gathered blocks. A packet under way keeps its length and its EXPRESS blocks; zeros replace the rest.
     * It must still be flushed, now without the user's memory. An end mark that was to follow it becomes an abort mark.
     * After an {@link OutOfMemoryError} the caller repeats this call before any other.
     *
     * @return whether such an end mark serves as the abort mark, so that no other must be sent
     */
    public abstract boolean abandon();
}
