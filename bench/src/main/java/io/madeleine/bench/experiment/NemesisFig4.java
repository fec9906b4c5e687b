package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Latency of short messages inside a host, by MPI. */
final class NemesisFig4 {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-fig4",
            NetPipe.PAPER,
            "Figure 4, latency inside a node",
            Status.READY,
            new SetUp(List.of("sci"), List.of("mpich", "openmpi"), List.of("mpi-latency"), NetPipe.SHORT),
            new Original(
                    "Latency inside a node",
                    NetPipe.source(4),
                    List.of(
                            new Quote("mpi-latency", "Nemesis beside the older shared memory of MPICH2", "25 % less"),
                            new Quote("mpi-latency", "Open MPI beside the three others", "twice as much")),
                    "Sizes as in the original, below 64 bytes."));

    private NemesisFig4() {}
}
