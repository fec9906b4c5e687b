package io.madeleine.tm.sci;

/**
 * Where the cells of one direction lie in a pair segment.
 *
 * <pre>
 *   controlOffset    one line per cell:  | state (8) | header (8) | trailer (8) |
 *   dataOffset       the cells' payload, cellBytes each
 *
 *   state    0 while the cell is the sender's, else the number of payload bytes in it + 1, and it is the receiver's
 *   header   of the packet that begins in this cell, 0 if one goes on in it
 *   trailer  of the empty packet that follows behind the payload, 0 for none
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

    long data(int cell) {
        return dataOffset + (long) cell * cellBytes;
    }

    int next(int cell) {
        return cell + 1 == cells ? 0 : cell + 1;
    }
}
