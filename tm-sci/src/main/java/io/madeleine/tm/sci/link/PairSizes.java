package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.util.List;

/**
 * The sizes of rings and cells. The initiator of a connection chooses them; the acceptor validates them before it uses
 * them.
 *
 * <p>Threading: immutable.
 *
 * @param ringBytes the ring for one direction of a static module, a power of two
 * @param cellBytes the payload of one cell, a multiple of 4096
 * @param cells the number of cells for one direction of a dynamic module
 */
public record PairSizes(int ringBytes, int cellBytes, int cells) {
    public static final int MAX_RING_BYTES = 1 << 26;
    public static final int MAX_CELL_BYTES = 1 << 26;
    public static final int MIN_CELLS = 2;
    public static final int MAX_CELLS = 1024;
    public static final int MAX_BUFFER_BYTES = 1 << 20;

    /** The configured sizes; the ring is larger if the agreed buffers are larger than the configured ones. */
    public static PairSizes chosen(int ringBytes, int cellBytes, int cells, List<TransmissionCapabilities> modules) {
        return new PairSizes(Math.max(ringBytes, minRingBytes(modules)), cellBytes, cells);
    }

    private static int minRingBytes(List<TransmissionCapabilities> modules) {
        return (int) modules.stream()
                .filter(module -> module.bufferMode() == BufferMode.STATIC)
                .mapToLong(module -> RingLayout.minRingBytes(module.bufferBytes()))
                .max()
                .orElse(0);
    }

    /**
     * These sizes, or the largest smaller ones whose segment takes at most {@code maxBytes}; the smallest possible
     * sizes if none does.
     */
    public PairSizes within(List<TransmissionCapabilities> modules, long maxBytes) {
        int minRingBytes = minRingBytes(modules);
        PairSizes sizes = this;
        while (PairLayout.of(modules, sizes).totalBytes() > maxBytes) {
            PairSizes next = sizes.smaller(minRingBytes);
            if (next.equals(sizes)) {
                break;
            }
            sizes = next;
        }
        return sizes;
    }

    /**
     * Halves the part that takes most memory: the ring, the size of the cells, or, once a cell is one page, the number
     * of cells.
     */
    private PairSizes smaller(int minRingBytes) {
        boolean minimalCells = cellBytes == OrderedWords.PAGE_BYTES && cells == MIN_CELLS;
        if (ringBytes / 2 >= minRingBytes && (minimalCells || ringBytes >= (long) cells * cellBytes)) {
            return new PairSizes(ringBytes / 2, cellBytes, cells);
        }
        return cellBytes > OrderedWords.PAGE_BYTES
                ? new PairSizes(ringBytes, (int) OrderedWords.align(cellBytes / 2, OrderedWords.PAGE_BYTES), cells)
                : new PairSizes(ringBytes, cellBytes, Math.max(cells / 2, MIN_CELLS));
    }

    /** Whether these sizes are within the limits and suit the modules. */
    public boolean isValid(List<TransmissionCapabilities> modules) {
        return Integer.bitCount(ringBytes) == 1
                && ringBytes > 0
                && ringBytes <= MAX_RING_BYTES
                && modules.stream().allMatch(module -> ringBytes >= RingLayout.minRingBytes(module.bufferBytes()))
                && cellBytes > 0
                && cellBytes <= MAX_CELL_BYTES
                && cellBytes % OrderedWords.PAGE_BYTES == 0
                && cells >= MIN_CELLS
                && cells <= MAX_CELLS;
    }

    @Override
    public String toString() {
        return "a ring of " + ringBytes + " bytes, " + cells + " cells of " + cellBytes + " bytes";
    }
}
