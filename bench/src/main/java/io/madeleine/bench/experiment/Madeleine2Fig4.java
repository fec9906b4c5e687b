package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** One transmission module for all sizes, beside the selection by size, over libfabric's provider of shared memory. */
final class Madeleine2Fig4 {
    static final Experiment EXPERIMENT = new Experiment(
            "madeleine2-fig4",
            "Madeleine II (RR-3976, 2000)",
            "Figure 4, one module for all sizes over VIA, and the choice between them",
            Status.READY,
            new SetUp(
                    List.of("via:shm"),
                    List.of(
                            Variation.with("pool", "tm.via.registered.from=off", "tm.via.rdma.from=off"),
                            Variation.with("registered", "tm.via.registered.from=1", "tm.via.rdma.from=off"),
                            Variation.with("rdma", "tm.via.registered.from=off", "tm.via.rdma.from=1"),
                            Variation.with("adaptive")),
                    List.of(),
                    List.of("latency", "pingpong"),
                    List.of(
                            1L,
                            8L,
                            64L,
                            512L,
                            1L << 10,
                            2L << 10,
                            4L << 10,
                            8L << 10,
                            16L << 10,
                            32L << 10,
                            64L << 10,
                            128L << 10,
                            256L << 10,
                            512L << 10,
                            1L << 20),
                    false,
                    false),
            new Original(
                    "Pre-registered buffers, registered user memory, and the choice between them",
                    "Madeleine II, RR-3976 (2000), figure 4: M-VIA 0.9.2",
                    List.of(new Quote("latency", "pre-registered buffers win", "below 5 kB")),
                    "Here the network is libfabric's shm between two processes of one machine, whose registrations pin"
                            + " nothing; --protocol takes another provider."));

    private Madeleine2Fig4() {}
}
