package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import java.util.List;

/** What a second network that is open and idle costs the first one, and what the hints of a channel change. */
final class ProgressCosts {
    static final Experiment EXPERIMENT = new Experiment(
            "progress",
            "Open MPI PTL/Elan4 (2004)",
            "Section 4.3, progress: idle networks, hints",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of(
                            Variation.with("alone"),
                            Variation.with("tcp idle", "channels.mad-perf-idle.network=tcp"),
                            Variation.with("hint latency", "channels.mad-perf.hint=latency"),
                            Variation.with("hint throughput", "channels.mad-perf.hint=throughput"),
                            Variation.with("hint cpu", "channels.mad-perf.hint=cpu")),
                    List.of(),
                    List.of("latency", "rate"),
                    List.of(8L, 4L << 10),
                    false,
                    false),
            new Original(
                    "Waiting: other networks open and idle, and what counts for those who wait",
                    "Open MPI PTL/Elan4 (2004), section 4.3: polling and blocking progress, with threads or without",
                    List.of(),
                    "The bar: at most 1.1 times sci alone beside idle tcp; adaptive within 1.1 of spin (--wait spin,adaptive)."));

    private ProgressCosts() {}
}
