package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Nexus over Madeleine II, over TCP and SISCI; here beside the channels without it, and gRPC. */
final class Madeleine2Fig10 {
    static final Experiment EXPERIMENT = new Experiment(
            "madeleine2-fig10",
            "Madeleine II (RR-3976, 2000)",
            "Figure 10, Nexus over TCP and SCI",
            Status.READY,
            new SetUp(
                    List.of("sci", "tcp"),
                    List.of("grpc-tcp", "grpc-uds"),
                    List.of("latency", "rsr", "rsr-vthread", "rsr-typed"),
                    List.of(8L, 64L, 256L, 1L << 10, 4L << 10, 16L << 10, 64L << 10, 256L << 10, 1L << 20)),
            new Original(
                    "Remote service requests over TCP and SCI",
                    "Madeleine II, RR-3976 (2000), figure 10: Nexus over Madeleine II",
                    List.of(new Quote("rsr", "smallest over SCI", "below 25 µs")),
                    "Here both ends are on one machine; pattern latency is the channel without Nexus."));

    private Madeleine2Fig10() {}
}
