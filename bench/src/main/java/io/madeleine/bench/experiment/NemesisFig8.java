package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** Latency of short messages over TCP, by MPI. */
final class NemesisFig8 {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-fig8",
            NetPipe.PAPER,
            "Figure 8, latency over Gigabit Ethernet",
            Status.READY,
            new SetUp(List.of("tcp"), List.of("mpich-tcp", "openmpi-tcp"), List.of("mpi-latency"), NetPipe.SHORT),
            new Original(
                    "Latency over Gigabit Ethernet",
                    NetPipe.source(8),
                    List.of(new Quote("mpi-latency", "Open MPI beside Nemesis", "50 % more")),
                    "Here both ends are on one machine and the network is its loopback."));

    private NemesisFig8() {}
}
