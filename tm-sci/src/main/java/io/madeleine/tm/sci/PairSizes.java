package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;

/**
 * The sizes of rings and cells, chosen by the initiator of a connection, checked by the acceptor before anything is
 * mapped by them.
 *
 * @param ringBytes of one direction of a static module, a power of two
 * @param cellBytes of one cell, a multiple of 4096
 * @param cells of one direction of a dynamic module
 */
record PairSizes(int ringBytes, int cellBytes, int cells) {
    static final int MAX_RING_BYTES = 1 << 26;
    static final int MAX_CELL_BYTES = 1 << 26;
    static final int MIN_CELLS = 2;
    static final int MAX_CELLS = 1024;
    static final int MAX_BUFFER_BYTES = 1 << 20;

    /** The configured sizes, the ring enlarged where the agreed buffers are larger than ours. */
    static PairSizes chosen(SciConfig config, List<TransmissionCapabilities> modules) {
        long ringBytes = config.shortRingBytes();
        for (TransmissionCapabilities module : modules) {
            if (module.bufferMode() == BufferMode.STATIC) {
                ringBytes = Math.max(ringBytes, RingLayout.minRingBytes(module.bufferBytes()));
            }
        }
        return new PairSizes((int) ringBytes, config.regularCellBytes(), config.regularCells());
    }

    /** Whether a ring and cells can be built with these sizes. */
    boolean isValid(List<TransmissionCapabilities> modules) {
        return Integer.bitCount(ringBytes) == 1
                && ringBytes > 0
                && ringBytes <= MAX_RING_BYTES
                && modules.stream().allMatch(module -> ringBytes >= RingLayout.minRingBytes(module.bufferBytes()))
                && cellBytes > 0
                && cellBytes <= MAX_CELL_BYTES
                && cellBytes % CellLayout.PAGE_BYTES == 0
                && cells >= MIN_CELLS
                && cells <= MAX_CELLS;
    }

    @Override
    public String toString() {
        return "a ring of " + ringBytes + " bytes, " + cells + " cells of " + cellBytes + " bytes";
    }
}
