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
 *   0      header (PairHeader)
 *   1024   words that the initiator writes: state, watch, room wanted; a line each
 *   2048   the acceptor's
 *   4096   for each agreed module, in order: its ring or cells initiator to acceptor, then acceptor to initiator
 * </pre>
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
    private static final long DATA_OFFSET = 4096;

    static PairLayout of(List<TransmissionCapabilities> modules, PairSizes sizes) {
        List<List<RingLayout>> rings = new ArrayList<>();
        List<List<CellLayout>> cells = new ArrayList<>();
        long offset = DATA_OFFSET;
        for (TransmissionCapabilities module : modules) {
            List<RingLayout> moduleRings = new ArrayList<>();
            List<CellLayout> moduleCells = new ArrayList<>();
            for (int direction = 0; direction < DIRECTIONS; direction++) {
                if (module.bufferMode() == BufferMode.STATIC) {
                    int bufferBytes = (int) Words.align(module.bufferBytes(), Long.BYTES);
                    RingLayout ring = RingLayout.at(offset, sizes.ringBytes(), bufferBytes);
                    offset += ring.totalBytes();
                    moduleRings.add(ring);
                } else {
                    CellLayout line = CellLayout.at(offset, sizes.cellBytes(), sizes.cells());
                    offset += line.totalBytes();
                    moduleCells.add(line);
                }
                offset = Words.align(offset, CellLayout.PAGE_BYTES);
            }
            rings.add(List.copyOf(moduleRings));
            cells.add(List.copyOf(moduleCells));
        }
        return new PairLayout(List.copyOf(rings), List.copyOf(cells), offset);
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
}
