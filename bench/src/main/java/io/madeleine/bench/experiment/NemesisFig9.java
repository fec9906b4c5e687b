package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Bandwidth over TCP, by MPI. */
final class NemesisFig9 {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-fig9",
            NetPipe.PAPER,
            "Figure 9, bandwidth over Gigabit Ethernet",
            Status.READY,
            new SetUp(List.of("tcp"), List.of("mpich-tcp", "openmpi-tcp"), List.of("mpi-pingpong"), NetPipe.SIZES),
            new Original(
                    "Bandwidth over Gigabit Ethernet",
                    NetPipe.source(9),
                    List.of(
                            new Quote("mpi-pingpong", "best up to", "4 KB"),
                            new Quote("mpi-pingpong", "worst beside the others", "4 to 128 KB"),
                            new Quote("mpi-pingpong", "from eager to rendezvous here, above", "64 KiB")),
                    NetPipe.NOTE));

    private NemesisFig9() {}
}
