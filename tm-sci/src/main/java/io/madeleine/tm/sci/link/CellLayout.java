package io.madeleine.tm.sci.link;

import io.madeleine.tm.sci.memory.OrderedWords;

/**
 * The layout of the cells of one direction in a pair segment.
 *
 * <pre>
 *   controlOffset    one line per cell:
 *                    | state (8) | header (8) | trailer (8) | address (8) | length (8) | granted (8) | .. | taken (8) |
 *   dataOffset       the cells' payload, cellBytes each
 *
 *   state    0 while the cell is the sender's; else it is the receiver's and has (state - 1) bytes of payload
 *   header   of the packet that begins in this cell; 0 if the cell continues a packet
 *   trailer  header of the empty packet that follows the payload; 0 for none
 * </pre>
 *
 * A cell of {@code sci/dma} may hold a loan instead of payload: the address of a block in the sender's memory, which
 * the receiver reads there. The receiver writes how many bytes it has read. These bytes count only when the sender
 * grants them: it first checks that the memory still exists and still belongs to the message. The last grant of a loan
 * is marked as such.
 *
 * <pre>
 *   state    -1
 *   address, length   of the block in the sender's memory; a negative address is a place in a shared block
 *   taken    by the receiver, in a cache line of its own: bytes read so far; sign bit: it refuses the rest
 *   granted  by the sender: bytes that count; sign bit: the loan has ended, and trailer is valid
 * </pre>
 *
 * <p>Threading: immutable.
 *
 * @param controlOffset where the control lines begin
 * @param dataOffset where the payload begins, page-aligned
 * @param cellBytes the payload of a cell, a multiple of 4096
 * @param cells the number of cells, 2 or more
 */
public record CellLayout(long controlOffset, long dataOffset, int cellBytes, int cells) {
    private static final int HEADER_OFFSET = 8;
    private static final int TRAILER_OFFSET = 16;

    private static final int ADDRESS_OFFSET = 24;
    private static final int LENGTH_OFFSET = 32;
    private static final int GRANTED_OFFSET = 40;
    private static final int TAKEN_OFFSET = 64;

    /** The state of a cell that holds a loan. */
    public static final long LENT = -1;

    /** The sign bit in the words of a loan: no more bytes of it follow. */
    static final long LAST = Long.MIN_VALUE;

    /** The bytes that the control lines take. */
    public static long controlBytes(int cells) {
        return (long) cells * OrderedWords.LINE_BYTES;
    }

    /** The bytes that the cells take. */
    public long dataBytes() {
        return (long) cells * cellBytes;
    }

    public long state(int cell) {
        return controlOffset + (long) cell * OrderedWords.LINE_BYTES;
    }

    public long header(int cell) {
        return state(cell) + HEADER_OFFSET;
    }

    public long trailer(int cell) {
        return state(cell) + TRAILER_OFFSET;
    }

    public long address(int cell) {
        return state(cell) + ADDRESS_OFFSET;
    }

    public long length(int cell) {
        return state(cell) + LENGTH_OFFSET;
    }

    public long granted(int cell) {
        return state(cell) + GRANTED_OFFSET;
    }

    public long taken(int cell) {
        return state(cell) + TAKEN_OFFSET;
    }

    public long data(int cell) {
        return dataOffset + (long) cell * cellBytes;
    }

    int next(int cell) {
        return cell + 1 == cells ? 0 : cell + 1;
    }
}
