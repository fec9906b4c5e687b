package io.madeleine.bench.experiment;

import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * What the figures of the Open-MX paper have in common: PingPong bandwidth against size, each mechanism by settings
 * that send all blocks its way. Where two curves cross is where the threshold between them should be.
 *
 * <p>Threading: stateless.
 */
final class OpenMx {
    static final String PAPER = "Open-MX (intra-node, 2009)";

    /** Blocks of 1 KiB to 16 MiB, as the axes of the figures. */
    static final List<Long> SIZES =
            LongStream.rangeClosed(5, 12).map(power -> 1L << 2 * power).boxed().toList();

    static final Variation EAGER =
            Variation.with("eager, the ring", "tm.sci.short.max-block=1 GiB", "tm.sci.dma.single-copy=off");
    static final Variation PIPELINE =
            Variation.with("pipeline, the cells", "tm.sci.short.max-block=0", "tm.sci.dma.single-copy=off");
    static final Variation SINGLE_COPY = Variation.withSingleCopy(
            "single copy",
            "tm.sci.short.max-block=0",
            "tm.sci.dma.single-copy=on",
            "tm.sci.dma.from=4 KiB",
            "tm.sci.dma.to=unlimited",
            "tm.sci.dma.shared-blocks=false",
            "tm.sci.dma.offload-from=off");

    static final Variation OFFLOADED = Variation.withSingleCopy(
            "single copy by two threads",
            "tm.sci.short.max-block=0",
            "tm.sci.dma.single-copy=on",
            "tm.sci.dma.from=4 KiB",
            "tm.sci.dma.to=unlimited",
            "tm.sci.dma.shared-blocks=false",
            "tm.sci.dma.offload-from=2 MiB");

    static final Variation SHARED =
            Variation.with("single copy of shared blocks", "tm.sci.short.max-block=0", "tm.sci.dma.from=4 KiB");

    /** Blocks of 16 KiB to 16 MiB, for mechanisms that pin them. */
    static final List<Long> PINNED_SIZES =
            LongStream.rangeClosed(14, 24).map(power -> 1L << power).boxed().toList();

    static final String PIN = "tm.via.pin=mlock";
    static final String ALL_PINNED = "tm.via.rdma.from=1";

    private OpenMx() {}

    /** No registration is kept: blocks are pinned piece by piece, from the first length up to a chunk. */
    static Variation overlapped(String name, String firstChunk, String chunk) {
        return Variation.with(
                name,
                PIN,
                ALL_PINNED,
                "tm.via.rdma.keep=off",
                "tm.via.rdma.first-chunk=" + firstChunk,
                "tm.via.rdma.chunk=" + chunk);
    }

    static Original original(int figure, String title, String note, String... quotes) {
        return quoting(
                figure,
                title,
                note
                        + " Single copy is process_vm_readv by the receiver in place of a driver of the kernel's, offload a second"
                        + " thread of the receiver in place of a DMA engine.",
                quotes);
    }

    /** Of a figure on pinned memory. */
    static Original pinned(int figure, String title, String note, String... quotes) {
        return quoting(
                figure,
                title,
                "Here the network is libfabric's shm between two processes, and a registration locks its pages (mlock). "
                        + note,
                quotes);
    }

    private static Original quoting(int figure, String title, String note, String... quotes) {
        List<Quote> numbers = new ArrayList<>();
        for (int i = 0; i < quotes.length; i += 2) {
            numbers.add(new Quote("pingpong", quotes[i], quotes[i + 1]));
        }
        return new Original(
                title,
                "High Throughput Intra-Node MPI Communication with Open-MX, figure " + figure
                        + ": IMB PingPong, two Xeon \"Clovertown\" 2.33 GHz of four cores each",
                numbers,
                note);
    }
}
