package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.ArrayList;
import java.util.List;

/**
 * Where everything lies in a pair segment: a function of the agreed modules and the sizes in its header, computed alike
 * at both ends.
 *
 * <pre>
 *   0      header (PairHeader), with the initiator's box for frames
 *   1024   words that the initiator writes: state, watch, room wanted, how its memory is recognised (pid, address of a mark,
 *          the mark), whether it can read the other's; a line each
 *   2048   the acceptor's, and its box for frames
 *   4096   for each agreed module, in order: its ring or the control lines of its cells, initiator to acceptor, then
 *          acceptor to initiator
 *   ...    from the next page on: the cells themselves, in the same order
 * </pre>
 *
 * Only cells begin at pages of their own: in a session of many processes small rings share one.
 *
 * @param rings for each module that is static, both directions; empty for others
 * @param cells for each module that is dynamic, both directions; empty for others
 * @param totalBytes the segment's size
 */
record PairLayout(List<List<RingLayout>> rings, List<List<CellLayout>> cells, long totalBytes) {
    /** The directions' indices: sent by the initiator, sent by the acceptor. */
    static final int INITIATOR = 0;

    static final int ACCEPTOR = 1;

    private static final int DIRECTIONS = 2;
    private static final long SIDE_OFFSET = 1024;
    private static final long SIDE_BYTES = 1024;
    private static final long STATE = 0;
    private static final long WATCH = Words.LINE_BYTES;
    private static final long ROOM_WANTED = 2 * Words.LINE_BYTES;
    private static final long LENDER = 3 * Words.LINE_BYTES;
    private static final long READS = 4 * Words.LINE_BYTES;
    private static final long DATA_OFFSET = 4096;

    static PairLayout of(List<TransmissionCapabilities> modules, PairSizes sizes) {
        List<List<RingLayout>> rings = new ArrayList<>();
        List<List<CellLayout>> cells = new ArrayList<>();
        long offset = DATA_OFFSET;
        long dataOffset = Words.align(DATA_OFFSET + frontBytes(modules, sizes), CellLayout.PAGE_BYTES);
        for (TransmissionCapabilities module : modules) {
            List<RingLayout> moduleRings = new ArrayList<>();
            List<CellLayout> moduleCells = new ArrayList<>();
            for (int direction = 0; direction < DIRECTIONS; direction++) {
                if (isStatic(module)) {
                    moduleRings.add(ring(module, sizes, offset));
                } else {
                    CellLayout line = new CellLayout(offset, dataOffset, cellBytes(module, sizes), sizes.cells());
                    dataOffset += line.dataBytes();
                    moduleCells.add(line);
                }
                offset += frontBytes(module, sizes);
            }
            rings.add(List.copyOf(moduleRings));
            cells.add(List.copyOf(moduleCells));
        }
        return new PairLayout(List.copyOf(rings), List.copyOf(cells), dataOffset);
    }

    private static boolean isStatic(TransmissionCapabilities module) {
        return module.bufferMode() == BufferMode.STATIC;
    }

    /** A module that leaves the largest blocks to another has half of that one's memory. */
    private static int cellBytes(TransmissionCapabilities module, PairSizes sizes) {
        return module.maxBlockBytes() == Long.MAX_VALUE
                ? sizes.cellBytes()
                : (int) Words.align(sizes.cellBytes() / 2, CellLayout.PAGE_BYTES);
    }

    private static RingLayout ring(TransmissionCapabilities module, PairSizes sizes, long offset) {
        return RingLayout.at(offset, sizes.ringBytes(), (int) Words.align(module.bufferBytes(), Long.BYTES));
    }

    /** What all modules have before the cells, both ways. */
    private static long frontBytes(List<TransmissionCapabilities> modules, PairSizes sizes) {
        return modules.stream()
                .mapToLong(module -> DIRECTIONS * frontBytes(module, sizes))
                .sum();
    }

    /** What a module has before the cells, one way. */
    private static long frontBytes(TransmissionCapabilities module, PairSizes sizes) {
        long bytes = isStatic(module) ? ring(module, sizes, 0).totalBytes() : CellLayout.controlBytes(sizes.cells());
        return Words.align(bytes, Words.LINE_BYTES);
    }

    /** Whether the side still sends, has finished, or has closed. */
    static long state(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + STATE;
    }

    /** Whether the side, as a receiver, looks at the connection of its own accord. */
    static long watch(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + WATCH;
    }

    /** Whether the side, as a sender, wants to hear of room. */
    static long roomWanted(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + ROOM_WANTED;
    }

    /** Where the side says how its memory is recognised. */
    static long lender(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + LENDER;
    }

    /** Whether the side can read the other's memory. */
    static long reads(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + READS;
    }
}
