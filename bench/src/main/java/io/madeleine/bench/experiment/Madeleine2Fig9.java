package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** MPI over Madeleine II and SCI; here beside the channels without it, and two MPIs in C. */
final class Madeleine2Fig9 {
    static final Experiment EXPERIMENT = new Experiment(
            "madeleine2-fig9",
            "Madeleine II (RR-3976, 2000)",
            "Figure 9, MPI over SCI",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of("mpich", "openmpi"),
                    List.of("latency", "mpi-latency", "mpi-pingpong"),
                    List.of(
                            4L,
                            16L,
                            64L,
                            256L,
                            1L << 10,
                            4L << 10,
                            16L << 10,
                            32L << 10,
                            64L << 10,
                            256L << 10,
                            1L << 20)),
            new Original(
                    "MPI over SCI",
                    "Madeleine II, RR-3976 (2000), figure 9: MPICH over Madeleine II and SISCI, SCI-MPICH, ScaMPI",
                    List.of(new Quote("mpi-pingpong", "the best of all three from", "32 kB")),
                    "The original's latency is behind that of MPIs that use SCI directly. Here SCI is the memory of one machine;"
                            + " pattern latency is the channel without MPI."));

    private Madeleine2Fig9() {}
}
