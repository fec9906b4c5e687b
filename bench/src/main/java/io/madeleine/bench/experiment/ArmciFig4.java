package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;
import java.util.stream.LongStream;

/** Compares registering memory and ending the registration with a copy, over libfabric's provider shm. */
final class ArmciFig4 {
    static final Experiment EXPERIMENT = new Experiment(
            "armci-fig4",
            "ARMCI over GM (Myrinet)",
            "Figure 4, registering memory beside copying it",
            Status.READY,
            new SetUp(
                    List.of("via:shm"),
                    List.of(Variation.PLAIN, Variation.with("", OpenMx.PIN)),
                    List.of("fabric:shm"),
                    List.of("register"),
                    LongStream.rangeClosed(10, 22)
                            .map(power -> 1L << power)
                            .boxed()
                            .toList(),
                    false,
                    false),
            new Original(
                    "Cost of registering memory and ending the registration",
                    "ARMCI over GM, figure 4: GM 1.2 on Myrinet, two Pentium III 500 MHz per node, Linux 2.2.14",
                    List.of(
                            new Quote("register", "registration, pinned", "411 MB/s"),
                            new Quote("register", "copy", "330 MB/s")),
                    "Here the network is libfabric's shm, in one process. Its registrations pin nothing unless they lock"
                            + " their pages (pin = mlock), as those of GM did."));

    private ArmciFig4() {}
}
