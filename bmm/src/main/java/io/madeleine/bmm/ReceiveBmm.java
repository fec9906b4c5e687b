package io.madeleine.bmm;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Turns the packets of one link into the blocks that were unpacked from it. Blocks are gathered, and filled when their
 * data is there: from an asymmetric link in the parts that arrive ({@code receive_sub_buffer_group}); from a symmetric
 * link only after {@link #checkOut()}, when the group is known to equal the sent one. Blocks whose data has not arrived
 * are posted to the link, if it is a {@link PostingLink}.
 *
 * <p>Threading: guarded by the connection's receive lock.
 */
public final class ReceiveBmm {
    private final TransmissionLink link;
    private final ReceiveLedger ledger;
    private final boolean extractsParts;
    private final BufferGroup group = new BufferGroup();
    private final @Nullable PostingLink posting;
    private final @Nullable OneStepLink oneStep;
    private final BufferGroup newlyExpected = new BufferGroup();
    private long expectedBytes;
    private long checkedOutBytes;
    private long openHeader;
    private long openBytes;
    private int openIndex;
    private boolean stateUnknown;

    /** Creates the buffer management module for a link. */
    public ReceiveBmm(TransmissionLink link, ReceiveLedger ledger) {
        this.link = link;
        this.ledger = ledger;
        this.posting = link instanceof PostingLink able ? able : null;
        this.oneStep = link instanceof OneStepLink able ? able : null;
        this.extractsParts = link.capabilities().aggregation() == AggregationMode.ASYMMETRIC;
    }

    /**
     * Appends a block to be filled.
     *
     * <p>Ownership: the block is lent until its data has arrived, or until {@link #forgetBlocks} and {@link #retract}.
     */
    public void append(MemorySegment block, long offset, long bytes) {
        group.add(block, offset, bytes);
        if (extractsParts) {
            checkedOutBytes += bytes;
        }
    }

    /** As {@link #append(MemorySegment, long, long)}, for a block that lies in the ranges of a layout. */
    public void append(BlockLayout block) {
        group.add(block, 0, block.byteSize());
        if (extractsParts) {
            checkedOutBytes += block.byteSize();
        }
    }

    /**
     * Fills a block at once, if no other block waits and all its bytes are in front.
     *
     * <p>Ownership: the block is not kept.
     *
     * @return whether the block was filled; if not, nothing was taken, and the caller appends it
     * @throws IllegalStateException if the block's memory has been freed; nothing was taken
     */
    public boolean takeWhole(MemorySegment block, long offset, long bytes) {
        if (!group.isEmpty() || !extractsParts || !open() || openBytes < bytes || !receiveWhole(block, offset, bytes)) {
            return false;
        }
        openBytes -= bytes;
        if (openBytes == 0) {
            close();
        }
        return true;
    }

    /**
     * Takes the message in front in one step, if it is one complete packet with one block of this size:
     * {@link #takeWhole} and the end of the message. No block has been appended.
     *
     * <p>Ownership: the block is not kept.
     *
     * @return whether it was taken, and the ledger has moved to the next message; if not, nothing was taken
     * @throws IllegalStateException if the block's memory has been freed; nothing was taken
     */
    public boolean takeMessage(MemorySegment block, long offset, long bytes) {
        if (bytes > PacketHeader.MAX_PAYLOAD_BYTES) {
            return false;
        }
        long header = ledger.headerOfWhole((int) bytes);
        if (oneStep != null
                ? !oneStep.receivePacket(header, block, offset)
                : !takeInSteps(header, block, offset, bytes)) {
            return false;
        }
        openHeader = 0; // an earlier look may have opened it
        ledger.nextMessage();
        return true;
    }

    private boolean takeInSteps(long header, MemorySegment block, long offset, long bytes) {
        if (link.front() != header || bytes > 0 && !receiveWhole(block, offset, bytes)) {
            return false;
        }
        release();
        return true;
    }

    private boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        try {
            return link.receiveWhole(block, offset, bytes);
        } catch (OutOfMemoryError e) {
            stateUnknown = true;
            throw e;
        }
    }

    /**
     * Whether an {@link OutOfMemoryError} occurred within the link, so that the progress within the packet in front is
     * unknown. After an error that took nothing, or where a group records the progress, the call can be repeated.
     */
    public boolean isStateUnknown() {
        return stateUnknown;
    }

    /** Marks all blocks so far for extraction. */
    public void checkOut() {
        checkedOutBytes = group.remainingBytes();
    }

    /** Whether every block has its data. */
    public boolean isDrained() {
        return group.isEmpty();
    }

    /** Whether every block up to the last checkout has its data. */
    public boolean isCheckedOut() {
        return checkedOutBytes == 0;
    }

    /** How many bytes the blocks still wait for. */
    public long missingBytes() {
        return group.remainingBytes();
    }

    /**
     * Extracts the arrived data for the blocks that may be filled.
     *
     * @return how many bytes and packets were consumed
     */
    public long extract() {
        return posting == null ? extractArrived() : extractAndExpect(posting);
    }

    private long extractAndExpect(PostingLink able) {
        long before = group.remainingBytes();
        long moved;
        try {
            moved = extractArrived();
        } finally { // also if the memory of a block was freed
            expectedBytes = Math.max(0, expectedBytes - (before - group.remainingBytes()));
        }
        if (checkedOutBytes > expectedBytes && !ledger.isEnded()) {
            expectRest(able);
        }
        return moved;
    }

    /** Posts the blocks that are marked for extraction and not posted yet, in order. */
    private void expectRest(PostingLink able) {
        long past = expectedBytes;
        long left = checkedOutBytes - expectedBytes;
        for (int i = 0; left > 0; i++) {
            long here = group.blockBytes(i);
            long skipped = Math.min(past, here);
            long wanted = Math.min(left, here - skipped);
            newlyExpected.addBlockOf(group, i, skipped, wanted);
            past -= skipped;
            left -= wanted;
        }
        able.expect(newlyExpected);
        newlyExpected.clear();
        expectedBytes = checkedOutBytes;
    }

    private long extractArrived() {
        long moved = 0;
        while (checkedOutBytes > 0 && open()) {
            if (holdsLargerGroup()) {
                return moved;
            }
            if (openBytes > 0) {
                long here = receive(Math.min(openBytes, checkedOutBytes));
                if (here == 0) {
                    return moved;
                }
                moved += here;
            }
            if (openBytes == 0) {
                if (comesTooEarly()) {
                    return moved;
                }
                close();
                moved++;
            }
        }
        return group.isEmpty() ? moved + passMarks() : moved;
    }

    private long receive(long maxBytes) {
        long before = group.remainingBytes();
        try {
            link.receive(group, maxBytes);
        } finally { // also if the memory of a block was freed
            long moved = before - group.remainingBytes();
            openBytes -= moved;
            checkedOutBytes -= moved;
        }
        return before - group.remainingBytes();
    }

    /** Enters empty packets and packets whose payload has been taken, up to the first one with payload left. */
    public long passMarks() {
        long passed = 0;
        while (open() && openBytes == 0 && !comesTooEarly()) {
            close();
            passed++;
        }
        return passed;
    }

    /**
     * Whether the packet in front is an end mark that has overtaken packets of other links. It is entered after them,
     * since the number of entered packets decides whether payload is overdue. An abort mark may be entered early:
     * nothing is judged after it.
     */
    private boolean comesTooEarly() {
        return PacketHeader.payloadBytes(openHeader) == 0
                && PacketHeader.has(openHeader, PacketHeader.LAST)
                && !PacketHeader.has(openHeader, PacketHeader.ABORT)
                && !ledger.isNext(openIndex);
    }

    /** Drops the arrived data of the message; returns how many bytes and packets were dropped. */
    public long drop() {
        long dropped = 0;
        while (open()) {
            if (openBytes > 0) {
                long here = skip();
                if (here == 0) {
                    return dropped;
                }
                openBytes -= here;
                dropped += here;
            }
            if (openBytes == 0) {
                close();
                dropped++;
            }
        }
        return dropped;
    }

    private long skip() {
        try {
            return link.skip(openBytes);
        } catch (OutOfMemoryError e) {
            stateUnknown = true;
            throw e;
        }
    }

    /**
     * Whether the packet in front is longer than the group marked for extraction and cannot be taken in parts: the
     * groups at the two ends differ.
     */
    public boolean holdsLargerGroup() {
        return !extractsParts && checkedOutBytes > 0 && openBytes > checkedOutBytes;
    }

    /**
     * Whether payload of this message is in front that no block has asked for. Like all judgements this uses the result
     * of the last look at the link. A new look here could bring up a packet that no later event reports.
     */
    public boolean holdsUnclaimedPayload() {
        return group.isEmpty() && openHeader != 0 && openBytes > 0;
    }

    /**
     * Whether unclaimed payload should have been asked for before an awaited block of another link. It may still be
     * asked for later while packets before it are on their way over other links and none after it has been entered.
     */
    public boolean holdsOverduePayload() {
        return holdsUnclaimedPayload() && ledger.isOverdue(openIndex);
    }

    /** How many bytes of the packet in front have not been taken; 0 if there is none. */
    public long untakenBytes() {
        return openHeader != 0 ? openBytes : 0;
    }

    /** Whether an end mark waits here for the packets before it, from other links, to be entered. */
    public boolean holdsMark() {
        return openHeader != 0 && openBytes == 0;
    }

    /** Whether a block in the region waits for data. */
    public boolean touches(Region region) {
        return group.touches(region);
    }

    /** Whether blocks can be posted to the link, so that they have to be {@linkplain #retract() taken back}. */
    public boolean posts() {
        return posting != null;
    }

    /**
     * Takes back posted blocks that have been forgotten.
     *
     * @return {@link LinkStatus#PENDING} while the link may still write to them: the caller repeats the call and does
     *     nothing else with the link
     */
    public int retract() {
        expectedBytes = 0;
        return posting == null ? LinkStatus.COMPLETE : posting.retract();
    }

    /** Forgets the blocks; posted ones must be {@linkplain #retract() taken back}. */
    public void forgetBlocks() {
        group.clear();
        checkedOutBytes = 0;
    }

    private boolean open() {
        if (openHeader != 0) {
            return true;
        }
        if (ledger.isEnded()) {
            return false; // without a look at the link, which may be a system call
        }
        long header = link.front();
        if (header <= 0 || !ledger.isOfThisMessage(header)) {
            return false;
        }
        openHeader = header;
        openBytes = PacketHeader.payloadBytes(header);
        openIndex = ledger.find(header);
        return true;
    }

    private void close() {
        release();
        ledger.enter(openHeader, openIndex);
        openHeader = 0;
    }

    private void release() {
        try {
            link.release();
        } catch (OutOfMemoryError e) {
            stateUnknown = true;
            throw e;
        }
    }
}
