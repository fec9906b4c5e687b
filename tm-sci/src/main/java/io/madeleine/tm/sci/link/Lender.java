package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.shared.SharedBlocks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of loans. It writes into a cell where a block lies, instead of copying the block, and grants the
 * bytes that the receiver has read. A byte counts only when it is granted, and the lender grants it only while the
 * block's memory exists and still belongs to the message. So bytes that were read from freed memory, or from memory
 * given back by an abort, never count. Cells carry what replaces them. There is at most one loan at a time.
 *
 * <p>Threading: single-writer (the holder of the send lock); {@link #isAnswered()} any thread.
 */
public final class Lender {
    /** The smallest block that is lent. */
    public static final long MIN_BYTES = 4096;

    /**
     * The smallest range of a block layout that is lent. Each range is a loan with answers of its own, whereas cells
     * stream, so that smaller ranges are faster through cells (docs/performance/tm-sci.md).
     */
    public static final long MIN_RANGE_BYTES = 32 * 1024;

    private final MemorySegment memory;
    private final CellLayout layout;
    private final long peerReads;
    private final SharedBlocks blocks;
    private final long maxBytes;

    private @Nullable MemorySegment segment;
    private long address;
    private long offset;
    private long lengthBytes;
    private long grantedBytes;
    private int cell;

    /** While more than this is left of the packet, its blocks go through cells. */
    private long lendFromBytes;

    private boolean broken;
    private volatile long seen;
    private volatile boolean out;

    /**
     * Creates a lender.
     *
     * @param memory the pair segment
     * @param layout the line of cells of this direction
     * @param peerReads offset of the word that says whether the peer can read this process's memory
     * @param singleCopy what may be lent
     */
    Lender(MemorySegment memory, CellLayout layout, long peerReads, SingleCopy singleCopy) {
        this.memory = memory;
        this.layout = layout;
        this.peerReads = peerReads;
        this.blocks = singleCopy.blocks();
        this.maxBytes = singleCopy.maxBytes();
    }

    /** Begins a packet. */
    void open() {
        lendFromBytes = Long.MAX_VALUE;
    }

    /**
     * Whether the block in front of the group can be lent: it is native memory that this thread can access and that the
     * peer can read.
     */
    boolean mayLend(BufferGroup group) {
        if (group.isEmpty() || isTooShort(group) || group.remainingBytes() > lendFromBytes) {
            return false;
        }
        MemorySegment block = group.segment(0);
        if (!block.isNative() || !block.isAccessibleBy(Thread.currentThread())) {
            return false;
        }
        address = blocks.place(block.address() + group.offset(0), group.bytes(0));
        if (address != 0) {
            return true;
        }
        if (group.bytes(0) > maxBytes) {
            lendFromBytes = group.remainingBytes() - group.bytes(0); // all of this block goes through cells
            return false;
        }
        address = block.address() + group.offset(0);
        return OrderedWords.opaque(memory, peerReads) != 0;
    }

    private static boolean isTooShort(BufferGroup group) {
        return group.bytes(0) < (group.isInRanges(0) ? MIN_RANGE_BYTES : MIN_BYTES);
    }

    /** Lends the block in front of the group, for which {@link #mayLend} was true, in a free cell. */
    void lend(int freeCell, long header, BufferGroup group) {
        MemorySegment block = group.segment(0);
        segment = block;
        offset = group.offset(0);
        lengthBytes = group.bytes(0);
        grantedBytes = 0;
        cell = freeCell;
        seen = 0;
        OrderedWords.setPlain(memory, layout.header(cell), header);
        OrderedWords.setPlain(memory, layout.trailer(cell), 0);
        OrderedWords.setPlain(memory, layout.address(cell), address);
        OrderedWords.setPlain(memory, layout.length(cell), lengthBytes);
        OrderedWords.setPlain(memory, layout.granted(cell), 0);
        OrderedWords.setPlain(memory, layout.taken(cell), 0);
        OrderedWords.setRelease(memory, layout.state(cell), CellLayout.LENT);
        out = true;
    }

    /** Whether a loan is under way. */
    boolean isOut() {
        return out;
    }

    /**
     * Grants what the receiver has taken. Ends the loan if that is the whole block, if the receiver refuses the rest,
     * or if other memory has replaced the group's.
     *
     * @param trailer header of the empty packet that follows the group, or 0
     * @return whether there was anything to do
     * @throws IllegalStateException if the memory has been freed; the loan ends when the caller has replaced it
     */
    @SuppressWarnings("MemorySegmentReferenceEquality") // what replaces freed memory may lie at the same address
    boolean settle(BufferGroup group, long trailer) {
        MemorySegment block = segment;
        if (block == null || group.isEmpty() || group.segment(0) != block || group.offset(0) != offset) {
            lendFromBytes = 0; // The message was aborted: the rest of the packet goes through cells.
            end(group, trailer);
            return true;
        }
        long word = OrderedWords.acquire(memory, layout.taken(cell));
        if (word == seen) {
            return false;
        }
        long takenBytes = word & ~CellLayout.LAST;
        if (takenBytes < grantedBytes || takenBytes > lengthBytes) {
            broken = true;
            return false;
        }
        // Throws if the memory has been freed: then what the receiver has read of it does not count.
        byte _ = block.get(ValueLayout.JAVA_BYTE, offset);
        seen = word;
        long bytes = takenBytes - grantedBytes;
        group.advance(bytes);
        offset += bytes;
        grantedBytes = takenBytes;
        if (takenBytes == lengthBytes) {
            end(group, trailer);
        } else if (word < 0) {
            // The rest of this block goes through cells; the next block may be lent.
            lendFromBytes = group.remainingBytes() - group.bytes(0);
            end(group, trailer);
        } else {
            OrderedWords.setRelease(memory, layout.granted(cell), grantedBytes);
        }
        return true;
    }

    private void end(BufferGroup group, long trailer) {
        OrderedWords.setPlain(memory, layout.trailer(cell), group.isEmpty() ? trailer : 0);
        OrderedWords.setRelease(memory, layout.granted(cell), grantedBytes | CellLayout.LAST);
        segment = null;
        out = false;
    }

    /** Whether the receiver's answer was out of bounds. */
    boolean isBroken() {
        return broken;
    }

    /** Whether the receiver has answered since the last {@link #settle}. */
    boolean isAnswered() {
        return out && OrderedWords.acquire(memory, layout.taken(cell)) != seen;
    }
}
