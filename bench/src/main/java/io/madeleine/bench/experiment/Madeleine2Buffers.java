package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;
import java.util.stream.Stream;

/** How many buffers of which size the regular transmission module should have: the paper has two. */
final class Madeleine2Buffers {
    static final Experiment EXPERIMENT = new Experiment(
            "madeleine2-buffers",
            "Madeleine II (RR-3976, 2000)",
            "Section 5.2.3, buffers of the regular module",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    Stream.of(
                                    "32 x 16", "2 x 8", "4 x 32", "8 x 32", "16 x 32", "4 x 64", "8 x 64", "16 x 64",
                                    "8 x 128", "4 x 256")
                            .map(Madeleine2Buffers::cells)
                            .toList(),
                    List.of(),
                    List.of("latency", "bandwidth"),
                    List.of(16L << 10, 64L << 10, 256L << 10, 1L << 20, 4L << 20),
                    false,
                    false),
            new Original(
                    "Buffers of the regular transmission module",
                    "Madeleine II, RR-3976 (2000), section 5.2.3: Dolphin SCI",
                    List.of(
                            new Quote("latency", "two buffers in turn from", "8 kB"),
                            new Quote("bandwidth", "with two buffers in turn", "82 MB/s")),
                    "Number and size, in KiB, of the cells of one direction (tm.sci.regular.cells and .cell)."));

    private Madeleine2Buffers() {}

    private static Variation cells(String name) {
        String[] numbers = name.split(" x ", -1);
        return Variation.with(
                name,
                "tm.sci.short.max-block=0",
                "tm.sci.dma.single-copy=off",
                "tm.sci.regular.cells=" + numbers[0],
                "tm.sci.regular.cell=" + numbers[1] + " KiB");
    }
}
