package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Latency and bandwidth of Madeleine II over TCP; here beside the socket without Madeleine. */
final class Madeleine2Fig5 {
    static final Experiment EXPERIMENT = new Experiment(
            "madeleine2-fig5",
            "Madeleine II (RR-3976, 2000)",
            "Figure 5, latency and bandwidth over TCP",
            Status.READY,
            new SetUp(
                    List.of("tcp"),
                    List.of("nio"),
                    List.of("latency", "bandwidth"),
                    List.of(4L, 16L, 64L, 256L, 1L << 10, 4L << 10, 16L << 10, 64L << 10, 256L << 10, 1L << 20)),
            new Original(
                    "Latency and bandwidth over TCP",
                    "Madeleine II, RR-3976 (2000), figure 5: Fast Ethernet",
                    List.of(
                            new Quote("latency", "smallest, uniprocessor kernel", "below 70 µs"),
                            new Quote("latency", "smallest, SMP kernel", "around 110 µs"),
                            new Quote("bandwidth", "largest", "more than 11 MB/s")),
                    "Here both ends are on one machine and the network is its loopback; nio is the raw socket."));

    private Madeleine2Fig5() {}
}
