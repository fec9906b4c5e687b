package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Latency of short messages over a network that the process drives itself, by MPI. */
final class NemesisFig6 {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-fig6",
            NetPipe.PAPER,
            "Figure 6, latency over Myrinet",
            Status.READY,
            new SetUp(List.of("via:shm"), List.of("mpich", "openmpi"), List.of("mpi-latency"), NetPipe.SHORT),
            new Original(
                    "Latency over Myrinet",
                    NetPipe.source(6),
                    List.of(new Quote("mpi-latency", "least", "MPICH-GM, then Nemesis")),
                    "The original's network is Myrinet with GM. Here it is libfabric's provider shm; the others use their own memory."));

    private NemesisFig6() {}
}
