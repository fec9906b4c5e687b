package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Bandwidth over a network that the process drives itself, by MPI. */
final class NemesisFig7 {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-fig7",
            NetPipe.PAPER,
            "Figure 7, bandwidth over Myrinet",
            Status.READY,
            new SetUp(List.of("via:shm"), List.of("mpich", "openmpi"), List.of("mpi-pingpong"), NetPipe.SIZES),
            new Original(
                    "Bandwidth over Myrinet",
                    NetPipe.source(7),
                    List.of(
                            new Quote("mpi-pingpong", "best up to", "24 KB"),
                            new Quote("mpi-pingpong", "the drop from eager to rendezvous at", "64 KB"),
                            new Quote("mpi-pingpong", "from eager to rendezvous here, above", "64 KiB")),
                    NetPipe.NOTE));

    private NemesisFig7() {}
}
