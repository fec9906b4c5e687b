package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import java.util.List;

/** PingPong bandwidth beside MPICH, whose shared memory is Nemesis. */
final class OpenMxFig8 {
    static final Experiment EXPERIMENT = new Experiment(
            "open-mx-fig8",
            OpenMx.PAPER,
            "Figure 8, PingPong beside MPICH2-Nemesis",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of(OpenMx.PIPELINE, OpenMx.SINGLE_COPY, OpenMx.OFFLOADED),
                    List.of("mpich"),
                    List.of("pingpong"),
                    OpenMx.SIZES,
                    false,
                    true),
            OpenMx.original(
                    8,
                    "Beside MPICH",
                    "With --pin there is a curve of ours for each way in which two processors share caches; MPICH binds its processes itself.",
                    "MPICH2, shared cache, medium",
                    "more than 5 GB/s",
                    "MPICH2, no shared cache, medium",
                    "1-2 GB/s",
                    "MPICH2, no shared cache, large",
                    "below 800 MB/s",
                    "Open-MX offloaded, large",
                    "above 2 GB/s"));

    private OpenMxFig8() {}
}
