package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Bandwidth inside a host, by MPI. */
final class NemesisFig5 {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-fig5",
            NetPipe.PAPER,
            "Figure 5, bandwidth inside a node",
            Status.READY,
            new SetUp(List.of("sci"), List.of("mpich", "openmpi"), List.of("mpi-pingpong"), NetPipe.SIZES),
            new Original(
                    "Bandwidth inside a node",
                    NetPipe.source(5),
                    List.of(
                            new Quote("mpi-pingpong", "best up to", "48 KB"),
                            new Quote("mpi-pingpong", "above 192 KB", "almost twice that of the others"),
                            new Quote("mpi-pingpong", "from eager to rendezvous here, above", "64 KiB")),
                    NetPipe.NOTE));

    private NemesisFig5() {}
}
