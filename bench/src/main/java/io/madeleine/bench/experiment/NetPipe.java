package io.madeleine.bench.experiment;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * What the figures of the Nemesis paper have in common: NetPIPE sends a message back and forth, of sizes that are
 * powers of two and of some bytes more and less. What depends on alignment shows beside each power, and so does a
 * change of protocol between two sizes.
 *
 * <p>Threading: stateless.
 */
final class NetPipe {
    static final String PAPER = "Nemesis (EuroPVM/MPI 2006)";

    /** Short messages, below 64 bytes. */
    static final List<Long> SHORT = List.of(1L, 4L, 8L, 13L, 16L, 19L, 29L, 32L, 35L, 48L, 61L);

    static final String NOTE =
            "Sizes are powers of four, and 3 bytes more and less. A dip behind 64 KiB is the change from"
                    + " eager messages to a rendezvous (mpi.eager-bytes).";

    private static final int PERTURBATION = 3;

    /** From 64 bytes to 4 MiB, each power of four with its neighbours. */
    static final List<Long> SIZES = withNeighbours();

    private NetPipe() {}

    private static List<Long> withNeighbours() {
        List<Long> sizes = new ArrayList<>();
        LongStream.rangeClosed(3, 11)
                .map(power -> 1L << 2 * power)
                .forEach(size -> sizes.addAll(List.of(size - PERTURBATION, size, size + PERTURBATION)));
        return List.copyOf(sizes);
    }

    /** Where a figure of the paper comes from. */
    static String source(int figure) {
        return "Nemesis (EuroPVM/MPI 2006), figure " + figure + ": NetPIPE, dual Xeon 2 GHz";
    }
}
