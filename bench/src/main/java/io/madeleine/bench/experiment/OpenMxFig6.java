package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import java.util.List;

/** PingPong bandwidth of each mechanism at all sizes: where the thresholds belong. */
final class OpenMxFig6 {
    static final Experiment EXPERIMENT = new Experiment(
            "open-mx-fig6",
            OpenMx.PAPER,
            "Figure 6, PingPong by mechanism",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of(OpenMx.EAGER, OpenMx.PIPELINE, OpenMx.SINGLE_COPY, OpenMx.OFFLOADED),
                    List.of(),
                    List.of("pingpong"),
                    OpenMx.SIZES,
                    false,
                    false),
            OpenMx.original(
                    6,
                    "Eager, pipeline and single copy by size",
                    "The original compares the loopback interface, single copy and copies by a DMA engine; the pipeline is what it calls the usual two copies.",
                    "loopback interface, large",
                    "about 1000 MB/s",
                    "single copy, large",
                    "1300 MB/s",
                    "single copy, 512 kB",
                    "almost 5 GB/s",
                    "offloaded, large",
                    "up to 2.1 GB/s",
                    "eager up to",
                    "4 kB",
                    "offload from",
                    "2 MB"));

    private OpenMxFig6() {}
}
