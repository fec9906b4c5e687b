package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import java.util.List;

/** Registrations that are kept, those that are overlapped with the transfer, and those that precede it. */
final class OpenMxFig11 {
    static final Experiment EXPERIMENT = new Experiment(
            "open-mx-fig11",
            OpenMx.PAPER,
            "Figure 11, cache of registrations and overlapped pinning",
            Status.READY,
            new SetUp(
                    List.of("via:shm"),
                    List.of(
                            Variation.with("cache", OpenMx.PIN, OpenMx.ALL_PINNED),
                            OpenMx.overlapped("overlapped", "128 KiB", "128 KiB"),
                            OpenMx.overlapped("overlapped, growing", "4 KiB", "128 KiB"),
                            OpenMx.overlapped("neither", "16 MiB", "16 MiB"),
                            Variation.with("copied", OpenMx.PIN, "tm.via.rdma.from=off", "tm.via.registered.from=off")),
                    List.of(),
                    List.of("pingpong"),
                    OpenMx.PINNED_SIZES,
                    false,
                    false),
            OpenMx.pinned(
                    11,
                    "Cache of registrations, overlapped pinning, and neither",
                    "A cache helps only a program that uses the same blocks again: with --buffers rotate each message has"
                            + " another block.",
                    "overlapped, large",
                    "2300 MB/s, 10 % more than neither",
                    "overlapped, smaller",
                    "up to 27 % more than neither",
                    "cache, smaller",
                    "up to 45 % more than neither"));

    private OpenMxFig11() {}
}
