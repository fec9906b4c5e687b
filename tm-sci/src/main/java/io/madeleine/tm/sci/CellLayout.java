package io.madeleine.tm.sci;

/**
 * Where the cells of one direction lie in a pair segment.
 *
 * <pre>
 *   controlOffset    one line per cell:
 *                    | state (8) | header (8) | trailer (8) | address (8) | length (8) | granted (8) | ... | taken (8) |
 *   dataOffset       the cells' payload, cellBytes each
 *
 *   state    0 while the cell is the sender's, else the number of payload bytes in it + 1, and it is the receiver's
 *   header   of the packet that begins in this cell, 0 if one goes on in it
 *   trailer  of the empty packet that follows behind the payload, 0 for none
 * </pre>
 *
 * The cells of {@code sci/dma} may also hold a loan: no payload, but where a block of the sender's lies, which the receiver
 * reads there. The receiver says how many bytes it has taken; they count when the sender grants them, after a look whether
 * the memory is still there and still the message's. Its last grant says that it is the last.
 *
 * <pre>
 *   state    -1
 *   address, length   of the block in the sender's memory
 *   taken    by the receiver, in a cache line of its own: bytes read so far; sign bit: it refuses the rest
 *   granted  by the sender: bytes that count; sign bit: no more of this loan, and trailer is valid
 * </pre>
 *
 * @param controlOffset where the control lines begin
 * @param dataOffset where the payload begins, page-aligned
 * @param cellBytes the payload of a cell, a multiple of 4096
 * @param cells how many, 2 or more
 */
record CellLayout(long controlOffset, long dataOffset, int cellBytes, int cells) {
    /** Cells begin at multiples of this. */
    static final int PAGE_BYTES = 4096;

    private static final int HEADER_OFFSET = 8;
    private static final int TRAILER_OFFSET = 16;

    private static final int ADDRESS_OFFSET = 24;
    private static final int LENGTH_OFFSET = 32;
    private static final int GRANTED_OFFSET = 40;
    private static final int TAKEN_OFFSET = 64;

    /** The state of a cell that holds a loan. */
    static final long LENT = -1;

    /** In the words of a loan: there will be no more of it. */
    static final long LAST = Long.MIN_VALUE;

    /** How many bytes the control lines take. */
    static long controlBytes(int cells) {
        return (long) cells * Words.LINE_BYTES;
    }

    /** How many bytes the cells take. */
    long dataBytes() {
        return (long) cells * cellBytes;
    }

    long state(int cell) {
        return controlOffset + (long) cell * Words.LINE_BYTES;
    }

    long header(int cell) {
        return state(cell) + HEADER_OFFSET;
    }

    long trailer(int cell) {
        return state(cell) + TRAILER_OFFSET;
    }

    long address(int cell) {
        return state(cell) + ADDRESS_OFFSET;
    }

    long length(int cell) {
        return state(cell) + LENGTH_OFFSET;
    }

    long granted(int cell) {
        return state(cell) + GRANTED_OFFSET;
    }

    long taken(int cell) {
        return state(cell) + TAKEN_OFFSET;
    }

    long data(int cell) {
        return dataOffset + (long) cell * cellBytes;
    }

    int next(int cell) {
        return cell + 1 == cells ? 0 : cell + 1;
    }
}
