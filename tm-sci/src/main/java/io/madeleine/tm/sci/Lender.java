package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.BufferGroup;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of loans: says in a cell where a block lies instead of copying it there, and grants what the receiver has
 * read. A byte counts only when it is granted, and it is granted only while the block's memory is there and still the
 * message's. So what was read of memory that had been freed, or given back when the message was aborted, never counts: it
 * is sent through cells, as what takes its place says. One loan at a time.
 *
 * <p>Threading: single-writer (whoever holds the send lock); {@link #hasNews()} any thread.
 */
final class Lender {
    /** Blocks below this size are not worth a loan. */
    static final long MIN_BYTES = 4096;

    /**
     * Ranges of a layout below this size are not either: each would be a loan with its own answers, where cells
     * stream. (LayoutBenchmark, 256 KiB: ranges of 8 and 16 KiB took several times as long lent; from 32 KiB on it made no difference.)
     */
    static final long MIN_RANGE_BYTES = 32 * 1024;

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

    /** Nothing is lent of the packet as long as more than that is left of it. */
    private long lendFromBytes;

    private boolean broken;
    private volatile long seen;
    private volatile boolean out;

    /**
     * A lender.
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

    /** A packet begins. */
    void open() {
        lendFromBytes = Long.MAX_VALUE;
    }

    /** Whether the block in front can be lent: native memory that stays where it is, and a peer that can read it. */
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
        return Words.opaque(memory, peerReads) != 0;
    }

    private static boolean isTooShort(BufferGroup group) {
        return group.bytes(0) < (group.isInRanges(0) ? MIN_RANGE_BYTES : MIN_BYTES);
    }

    /** Lends the block in front, which may be lent, in a cell that is the sender's. */
    void lend(int freeCell, long header, BufferGroup group) {
        MemorySegment block = group.segment(0);
        segment = block;
        offset = group.offset(0);
        lengthBytes = group.bytes(0);
        grantedBytes = 0;
        cell = freeCell;
        seen = 0;
        Words.setPlain(memory, layout.header(cell), header);
        Words.setPlain(memory, layout.trailer(cell), 0);
        Words.setPlain(memory, layout.address(cell), address);
        Words.setPlain(memory, layout.length(cell), lengthBytes);
        Words.setPlain(memory, layout.granted(cell), 0);
        Words.setPlain(memory, layout.taken(cell), 0);
        Words.setRelease(memory, layout.state(cell), CellLayout.LENT);
        out = true;
    }

    /** Whether a block is lent. */
    boolean isOut() {
        return out;
    }

    /**
     * Grants what the receiver has taken, and ends the loan when that is all, when it refuses the rest, or when the memory
     * has been exchanged.
     *
     * @param trailer of the empty packet to follow the group, or 0
     * @return whether there was anything to do
     * @throws IllegalStateException if the memory is not there any more; the loan ends when it has been exchanged
     */
    boolean settle(BufferGroup group, long trailer) {
        MemorySegment block = segment;
        if (block == null || group.isEmpty() || !group.segment(0).equals(block) || group.offset(0) != offset) {
            lendFromBytes = 0; // of a packet that is finished without its memory the rest takes the safe way
            end(group, trailer);
            return true;
        }
        long word = Words.acquire(memory, layout.taken(cell));
        if (word == seen) {
            return false;
        }
        long takenBytes = word & ~CellLayout.LAST;
        if (takenBytes < grantedBytes || takenBytes > lengthBytes) {
            broken = true;
            return false;
        }
        byte _ = block.get(
                ValueLayout.JAVA_BYTE, offset); // throws if the memory is gone, and what was read of it is void
        seen = word;
        long bytes = takenBytes - grantedBytes;
        group.advance(bytes);
        offset += bytes;
        grantedBytes = takenBytes;
        if (takenBytes == lengthBytes) {
            end(group, trailer);
        } else if (word < 0) {
            lendFromBytes =
                    group.remainingBytes() - group.bytes(0); // the rest goes through cells, the next may be lent
            end(group, trailer);
        } else {
            Words.setRelease(memory, layout.granted(cell), grantedBytes);
        }
        return true;
    }

    private void end(BufferGroup group, long trailer) {
        Words.setPlain(memory, layout.trailer(cell), group.isEmpty() ? trailer : 0);
        Words.setRelease(memory, layout.granted(cell), grantedBytes | CellLayout.LAST);
        segment = null;
        out = false;
    }

    /** Whether the receiver has written what makes no sense. */
    boolean isBroken() {
        return broken;
    }

    /** Whether the receiver has taken more of a loan. */
    boolean hasNews() {
        return out && Words.acquire(memory, layout.taken(cell)) != seen;
    }
}
