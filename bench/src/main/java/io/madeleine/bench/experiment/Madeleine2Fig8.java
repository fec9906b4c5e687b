package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Latency and bandwidth of Madeleine II over BIP/Myrinet; here over datagrams, beside the socket without Madeleine. */
final class Madeleine2Fig8 {
    static final Experiment EXPERIMENT = new Experiment(
            "madeleine2-fig8",
            "Madeleine II (RR-3976, 2000)",
            "Figure 8, latency and bandwidth over BIP",
            Status.READY,
            new SetUp(
                    List.of("bip"),
                    List.of("c-udp"),
                    List.of("latency", "bandwidth"),
                    List.of(4L, 16L, 64L, 256L, 1L << 10, 4L << 10, 16L << 10, 64L << 10, 256L << 10, 1L << 20)),
            new Original(
                    "Latency and bandwidth over BIP",
                    "Madeleine II, RR-3976 (2000), figure 8: Myrinet",
                    List.of(
                            new Quote("latency", "smallest", "7 µs"),
                            new Quote("latency", "smallest, raw BIP", "5 µs"),
                            new Quote("bandwidth", "largest", "122 MB/s"),
                            new Quote("bandwidth", "largest, raw BIP", "126 MB/s")),
                    "Here both ends are on one machine and the network is its loopback; c-udp is the raw socket in C with"
                            + " a window, which repeats nothing."));

    private Madeleine2Fig8() {}
}
