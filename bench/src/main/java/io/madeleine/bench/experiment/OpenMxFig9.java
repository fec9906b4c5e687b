package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import java.util.List;

/** PingPong bandwidth beside Open MPI. */
final class OpenMxFig9 {
    static final Experiment EXPERIMENT = new Experiment(
            "open-mx-fig9",
            OpenMx.PAPER,
            "Figure 9, PingPong beside Open MPI",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of(OpenMx.PIPELINE, OpenMx.SINGLE_COPY, OpenMx.SHARED),
                    List.of("openmpi"),
                    List.of("pingpong"),
                    OpenMx.SIZES,
                    false,
                    true),
            OpenMx.original(
                    9,
                    "Beside Open MPI",
                    "With --pin there is a curve of ours for each way in which two processors share caches; Open MPI binds its processes itself.",
                    "Open MPI, shared cache, medium",
                    "more than 5 GB/s",
                    "Open MPI, no shared cache, medium",
                    "1-2 GB/s",
                    "Open MPI, no shared cache, large",
                    "below 800 MB/s",
                    "Open-MX offloaded, large",
                    "above 2 GB/s"));

    private OpenMxFig9() {}
}
