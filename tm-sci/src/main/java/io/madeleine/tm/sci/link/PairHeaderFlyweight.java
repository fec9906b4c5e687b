package io.madeleine.tm.sci.link;

import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * The header of a pair segment: the sizes that the initiator writes before it gives the file its name, the slots, and a
 * mailbox for the last handshake frame of each side. Offsets in bytes:
 *
 * <pre>
 *   0    magic and version       24  cell bytes      40  initiator's slot
 *   8    segment bytes           32  cells           48  acceptor's slot
 *   16   ring bytes
 *   128  the initiator's mailbox: number and length of the frame in one word, then the frame
 *   2688 the acceptor's mailbox, behind its words
 * </pre>
 *
 * <p>Threading: stateless. The magic and the first word of a mailbox are written last, with release order.
 */
public final class PairHeaderFlyweight {
    public static final long MAGIC = 0x4d61_6449_7061_0002L;

    private static final long MAGIC_OFFSET = 0;
    private static final long SEGMENT_BYTES_OFFSET = 8;
    private static final long RING_BYTES_OFFSET = 16;
    private static final long CELL_BYTES_OFFSET = 24;
    private static final long CELLS_OFFSET = 32;
    private static final long SLOT_OFFSET = 40;
    private static final long SLOT_BYTES = Long.BYTES;

    /** Where the mailboxes begin and end, by side. */
    private static final long[] BOXES = {128, 2688};

    private static final long[] BOX_ENDS = {1024, 4096};

    /** Offsets of the mark by which a peer recognises a side's memory; the side's pid is at offset 0. */
    private static final long MARK_ADDRESS_OFFSET = 8;

    private static final long MARK_OFFSET = 16;

    private PairHeaderFlyweight() {}

    public static void write(MemorySegment memory, PairSizes sizes) {
        OrderedWords.setPlain(memory, SEGMENT_BYTES_OFFSET, memory.byteSize());
        OrderedWords.setPlain(memory, RING_BYTES_OFFSET, sizes.ringBytes());
        OrderedWords.setPlain(memory, CELL_BYTES_OFFSET, sizes.cellBytes());
        OrderedWords.setPlain(memory, CELLS_OFFSET, sizes.cells());
        OrderedWords.setVolatile(memory, MAGIC_OFFSET, MAGIC);
    }

    public static boolean isOfThisVersion(MemorySegment memory) {
        return OrderedWords.acquire(memory, MAGIC_OFFSET) == MAGIC
                && OrderedWords.plain(memory, SEGMENT_BYTES_OFFSET) == memory.byteSize();
    }

    public static PairSizes sizes(MemorySegment memory) {
        return new PairSizes(
                bounded(memory, RING_BYTES_OFFSET), bounded(memory, CELL_BYTES_OFFSET), bounded(memory, CELLS_OFFSET));
    }

    /** The word at that offset; -1 if it is not an int. */
    private static int bounded(MemorySegment memory, long offset) {
        long value = OrderedWords.plain(memory, offset);
        return value == (int) value ? (int) value : -1;
    }

    /** Writes the slot of the connection in a side's inbox; before the side sends its last frame. */
    public static void setSlot(MemorySegment memory, int side, int slot) {
        OrderedWords.setPlain(memory, SLOT_OFFSET + side * SLOT_BYTES, slot);
    }

    public static int slot(MemorySegment memory, int side) {
        return bounded(memory, SLOT_OFFSET + side * SLOT_BYTES);
    }

    /**
     * Replaces the frame in a side's mailbox.
     *
     * @param number counts the frames of the side, from 1
     */
    public static void putFrame(MemorySegment memory, int side, long number, byte[] frame) {
        long box = BOXES[side];
        MemorySegment.copy(frame, 0, room(memory, side), ValueLayout.JAVA_BYTE, 0, frame.length);
        OrderedWords.setVolatile(memory, box, number << Integer.SIZE | frame.length);
    }

    private static MemorySegment room(MemorySegment memory, int side) {
        long begin = BOXES[side] + Long.BYTES;
        return memory.asSlice(begin, BOX_ENDS[side] - begin);
    }

    /** The word of a side's last frame; 0 if the side has not sent any. */
    public static long frameWord(MemorySegment memory, int side) {
        return OrderedWords.acquire(memory, BOXES[side]);
    }

    /** Copies the frame that the word describes; empty if the length does not fit into the mailbox. */
    public static ByteBuffer frame(MemorySegment memory, int side, long word) {
        MemorySegment room = room(memory, side);
        int length = (int) word;
        if (length < 0 || length > room.byteSize()) {
            return ByteBuffer.allocate(0);
        }
        return ByteBuffer.wrap(room.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
    }

    static void writeLender(MemorySegment memory, long lender, long pid, long markAddress, long mark) {
        OrderedWords.setPlain(memory, lender + MARK_ADDRESS_OFFSET, markAddress);
        OrderedWords.setPlain(memory, lender + MARK_OFFSET, mark);
        OrderedWords.setVolatile(memory, lender, pid);
    }

    static long lenderPid(MemorySegment memory, long lender) {
        return OrderedWords.acquire(memory, lender);
    }

    static long lenderMarkAddress(MemorySegment memory, long lender) {
        return OrderedWords.plain(memory, lender + MARK_ADDRESS_OFFSET);
    }

    static long lenderMark(MemorySegment memory, long lender) {
        return OrderedWords.plain(memory, lender + MARK_OFFSET);
    }
}
