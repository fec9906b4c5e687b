package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;
import java.util.stream.Stream;

/** How the rate of messages into one process changes as more processes send to it than there are processors. */
final class NemesisSenders {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-senders",
            "Nemesis (EuroPVM/MPI 2006)",
            "Section 2.1, one queue for all senders, 1 to 8",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    Stream.of(1, 2, 4, 8).map(Variation::ofSenders).toList(),
                    List.of(),
                    List.of("incast"),
                    List.of(8L, 64L, 1L << 10, 16L << 10),
                    false,
                    false),
            new Original(
                    "Messages into one process as senders grow",
                    "Nemesis (EuroPVM/MPI 2006), section 2.1: one receive queue for all senders; no figure of its own",
                    List.of(new Quote("incast", "enqueue, dequeue", "6 and 11 instructions")),
                    "All processes share this machine's processors; the bar is half the rate of one sender."));

    private NemesisSenders() {}
}
