package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import java.util.List;

/** PingPong bandwidth depending on which caches the two processes share. */
final class OpenMxFig7 {
    static final Experiment EXPERIMENT = new Experiment(
            "open-mx-fig7",
            OpenMx.PAPER,
            "Figure 7, PingPong by binding of the processes",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of(OpenMx.PIPELINE, OpenMx.SINGLE_COPY, OpenMx.OFFLOADED),
                    List.of(),
                    List.of("pingpong"),
                    OpenMx.SIZES,
                    false,
                    true),
            OpenMx.original(
                    7,
                    "Pipeline and single copy by binding",
                    "With --pin there is a curve for each way in which two processors of this machine share caches.",
                    "shared L2, drops from",
                    "512 kB",
                    "no shared cache, drops from",
                    "1 MB",
                    "offloaded, any binding",
                    "above 2 GB/s"));

    private OpenMxFig7() {}
}
