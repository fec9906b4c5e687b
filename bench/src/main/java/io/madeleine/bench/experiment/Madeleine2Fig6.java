package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Latency and bandwidth of Madeleine II over SISCI/SCI; here beside a mailbox in shared memory without Madeleine. */
final class Madeleine2Fig6 {
    static final Experiment EXPERIMENT = new Experiment(
            "madeleine2-fig6",
            "Madeleine II (RR-3976, 2000)",
            "Figure 6, latency and bandwidth over SISCI/SCI",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of("raw-mailbox"),
                    List.of("latency", "bandwidth"),
                    List.of(4L, 16L, 64L, 256L, 1L << 10, 4L << 10, 16L << 10, 64L << 10, 256L << 10, 1L << 20)),
            new Original(
                    "Latency and bandwidth over SISCI",
                    "Madeleine II, RR-3976 (2000), figure 6: Dolphin SCI",
                    List.of(
                            new Quote("latency", "smallest", "3.9 µs"),
                            new Quote("latency", "short messages up to", "112 B"),
                            new Quote("bandwidth", "largest", "82 MB/s"),
                            new Quote("bandwidth", "two buffers in turn from", "8 kB"),
                            new Quote("bandwidth", "with the card's DMA", "35 MB/s")),
                    "Here both ends are on one machine and SCI is its shared memory; raw-mailbox is one mailbox with a"
                            + " flag, without pipelining."));

    private Madeleine2Fig6() {}
}
