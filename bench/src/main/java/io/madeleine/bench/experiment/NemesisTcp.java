package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** What Nemesis' two optimisations for networks are worth over TCP, and coalescing, which it did not have. */
final class NemesisTcp {
    private static final String NO_BYPASS = "-Dio.madeleine.tm.tcp.send-bypass=false";
    private static final String TWO_READS = "-Dio.madeleine.tm.tcp.one-read=false";

    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-tcp",
            "Nemesis (EuroPVM/MPI 2006)",
            "Sections 3.4 and 3.5, send bypass and header in one read",
            Status.READY,
            new SetUp(
                    List.of("tcp"),
                    List.of(
                            new Variation("all on", List.of(), List.of(), 1, false),
                            Variation.withJavaOptions("without send bypass", NO_BYPASS),
                            Variation.withJavaOptions("header read by itself", TWO_READS),
                            Variation.withJavaOptions("without both", NO_BYPASS, TWO_READS),
                            Variation.with("without coalescing", "tm.tcp.coalesce-time=0s")),
                    List.of("nio", "c-tcp"),
                    List.of("latency", "rate"),
                    List.of(8L, 64L, 1L << 10, 4L << 10),
                    false,
                    false),
            new Original(
                    "Send bypass and one read over TCP",
                    "Nemesis (EuroPVM/MPI 2006), sections 3.4 and 3.5",
                    List.of(new Quote("latency", "send bypass over TCP, one way", "several microseconds less")),
                    "Without send bypass a message is always handed to the engine, which sends it in its next round, as Nemesis'"
                            + " progress routine takes it from the queue. With the header read by itself, a second read"
                            + " brings the payload; otherwise one read brings whatever has come, also of packets behind. In"
                            + " streams (rate), small messages of which many come close to each other share a write, unless"
                            + " without coalescing."));

    private NemesisTcp() {}
}
