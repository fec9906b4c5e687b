package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.util.ArrayList;
import java.util.List;

/**
 * The layout of a pair segment. Both ends compute it from the agreed modules and the sizes in the header. Offsets in
 * bytes:
 *
 * <pre>
 *   0      header (PairHeaderFlyweight), with the initiator's mailbox
 *   1024   words that the initiator writes, one line each: state, watch, room wanted, how its memory is recognised
 *          (pid, address of a mark, the mark), whether it can read the acceptor's memory
 *   2048   the same words of the acceptor, and its mailbox
 *   4096   for each agreed module, in order: its ring, or the control lines of its cells, initiator to acceptor, then
 *          acceptor to initiator
 *   ...    from the next page on: the cells themselves, in the same order
 * </pre>
 *
 * Only cells begin on pages of their own: small rings share a page, which saves memory in sessions of many processes.
 *
 * <p>Threading: immutable.
 *
 * @param rings for each module: the rings of both directions if it is static, else empty
 * @param cells for each module: the cells of both directions if it is dynamic, else empty
 * @param totalBytes the size of the segment
 */
public record PairLayout(List<List<RingLayout>> rings, List<List<CellLayout>> cells, long totalBytes) {
    /** The sides, and the indices of the directions: sent by the initiator, sent by the acceptor. */
    public static final int INITIATOR = 0;

    public static final int ACCEPTOR = 1;

    private static final int DIRECTIONS = 2;
    private static final long SIDE_OFFSET = 1024;
    private static final long SIDE_BYTES = 1024;
    private static final long STATE = 0;
    private static final long WATCH = OrderedWords.LINE_BYTES;
    private static final long ROOM_WANTED = 2 * OrderedWords.LINE_BYTES;
    private static final long LENDER = 3 * OrderedWords.LINE_BYTES;
    private static final long READS = 4 * OrderedWords.LINE_BYTES;
    private static final long DATA_OFFSET = 4096;

    public static PairLayout of(List<TransmissionCapabilities> modules, PairSizes sizes) {
        List<List<RingLayout>> rings = new ArrayList<>();
        List<List<CellLayout>> cells = new ArrayList<>();
        long offset = DATA_OFFSET;
        long dataOffset = OrderedWords.align(DATA_OFFSET + frontBytes(modules, sizes), OrderedWords.PAGE_BYTES);
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

    /**
     * The cell size of a module: half of the configured size for a module that leaves the largest blocks to another
     * one.
     */
    private static int cellBytes(TransmissionCapabilities module, PairSizes sizes) {
        return module.maxBlockBytes() == Long.MAX_VALUE
                ? sizes.cellBytes()
                : (int) OrderedWords.align(sizes.cellBytes() / 2, OrderedWords.PAGE_BYTES);
    }

    private static RingLayout ring(TransmissionCapabilities module, PairSizes sizes, long offset) {
        return RingLayout.at(offset, sizes.ringBytes(), (int) OrderedWords.align(module.bufferBytes(), Long.BYTES));
    }

    /** The bytes that all modules take before the cells, both directions. */
    private static long frontBytes(List<TransmissionCapabilities> modules, PairSizes sizes) {
        return modules.stream()
                .mapToLong(module -> DIRECTIONS * frontBytes(module, sizes))
                .sum();
    }

    /** The bytes that a module takes before the cells, one direction. */
    private static long frontBytes(TransmissionCapabilities module, PairSizes sizes) {
        long bytes = isStatic(module) ? ring(module, sizes, 0).totalBytes() : CellLayout.controlBytes(sizes.cells());
        return OrderedWords.align(bytes, OrderedWords.LINE_BYTES);
    }

    /** The offset of the state word that a side writes, see {@link SciConnection}. */
    public static long state(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + STATE;
    }

    /** The offset of the watch word that a side writes as a receiver. */
    public static long watch(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + WATCH;
    }

    /** The offset of the word by which a side, as a sender, asks for an announcement when there is room. */
    public static long roomWanted(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + ROOM_WANTED;
    }

    /** The offset of the words by which a side's memory is recognised. */
    public static long lender(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + LENDER;
    }

    /** The offset of the word that says whether a side can read the other side's memory. */
    public static long reads(int side) {
        return SIDE_OFFSET + side * SIDE_BYTES + READS;
    }
}
