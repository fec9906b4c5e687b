package io.madeleine.tm.sci;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * The header of a pair segment: what the initiator says before the file gets its name, the slots, and a box for either side's last
 * frame of the handshake.
 *
 * <pre>
 *   0    magic and version       24  cell bytes      40  initiator's slot
 *   8    segment bytes           32  cells           48  acceptor's slot
 *   16   ring bytes
 *   128  the initiator's box: number and length of the frame in one word, and the frame
 *   2688 the acceptor's, behind its words
 * </pre>
 *
 * <p>Threading: stateless; magic and boxes' words are written last, with release.
 */
final class PairHeaderFlyweight {
    static final long MAGIC = 0x4d61_6449_7061_0002L;

    private static final long MAGIC_OFFSET = 0;
    private static final long SEGMENT_BYTES_OFFSET = 8;
    private static final long RING_BYTES_OFFSET = 16;
    private static final long CELL_BYTES_OFFSET = 24;
    private static final long CELLS_OFFSET = 32;
    private static final long SLOT_OFFSET = 40;
    private static final long SLOT_BYTES = Long.BYTES;

    /** Where boxes begin and end, by side. */
    private static final long[] BOXES = {128, 2688};

    private static final long[] BOX_ENDS = {1024, 4096};

    /** Of the words by which a side's memory is recognised, behind its pid. */
    private static final long MARK_ADDRESS_OFFSET = 8;

    private static final long MARK_OFFSET = 16;

    private PairHeaderFlyweight() {}

    static void write(MemorySegment memory, PairSizes sizes) {
        Words.setPlain(memory, SEGMENT_BYTES_OFFSET, memory.byteSize());
        Words.setPlain(memory, RING_BYTES_OFFSET, sizes.ringBytes());
        Words.setPlain(memory, CELL_BYTES_OFFSET, sizes.cellBytes());
        Words.setPlain(memory, CELLS_OFFSET, sizes.cells());
        Words.setVolatile(memory, MAGIC_OFFSET, MAGIC);
    }

    static boolean isOfThisVersion(MemorySegment memory) {
        return Words.acquire(memory, MAGIC_OFFSET) == MAGIC
                && Words.plain(memory, SEGMENT_BYTES_OFFSET) == memory.byteSize();
    }

    static PairSizes sizes(MemorySegment memory) {
        return new PairSizes(
                bounded(memory, RING_BYTES_OFFSET), bounded(memory, CELL_BYTES_OFFSET), bounded(memory, CELLS_OFFSET));
    }

    /** An int, or -1 for what is none. */
    private static int bounded(MemorySegment memory, long offset) {
        long value = Words.plain(memory, offset);
        return value == (int) value ? (int) value : -1;
    }

    /** Where a side wants to hear of the connection in its inbox; before its last frame. */
    static void setSlot(MemorySegment memory, int side, int slot) {
        Words.setPlain(memory, SLOT_OFFSET + side * SLOT_BYTES, slot);
    }

    static int slot(MemorySegment memory, int side) {
        return bounded(memory, SLOT_OFFSET + side * SLOT_BYTES);
    }

    /** Puts a side's frame of that number, not 0, in the place of the one before. */
    static void putFrame(MemorySegment memory, int side, long number, byte[] frame) {
        long box = BOXES[side];
        MemorySegment.copy(frame, 0, room(memory, side), ValueLayout.JAVA_BYTE, 0, frame.length);
        Words.setVolatile(memory, box, number << Integer.SIZE | frame.length);
    }

    private static MemorySegment room(MemorySegment memory, int side) {
        long begin = BOXES[side] + Long.BYTES;
        return memory.asSlice(begin, BOX_ENDS[side] - begin);
    }

    /** What stands for a side's last frame, 0 if there is none. */
    static long frameWord(MemorySegment memory, int side) {
        return Words.acquire(memory, BOXES[side]);
    }

    /** The frame that the word stands for; empty if there is no room for such. */
    static ByteBuffer frame(MemorySegment memory, int side, long word) {
        MemorySegment room = room(memory, side);
        int length = (int) word;
        if (length < 0 || length > room.byteSize()) {
            return ByteBuffer.allocate(0);
        }
        return ByteBuffer.wrap(room.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }

    static void writeLender(MemorySegment memory, long lender, long pid, long markAddress, long mark) {
        Words.setPlain(memory, lender + MARK_ADDRESS_OFFSET, markAddress);
        Words.setPlain(memory, lender + MARK_OFFSET, mark);
        Words.setVolatile(memory, lender, pid);
    }

    static long lenderPid(MemorySegment memory, long lender) {
        return Words.acquire(memory, lender);
    }

    static long lenderMarkAddress(MemorySegment memory, long lender) {
        return Words.plain(memory, lender + MARK_ADDRESS_OFFSET);
    }

    static long lenderMark(MemorySegment memory, long lender) {
        return Words.plain(memory, lender + MARK_OFFSET);
    }
}
