package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import java.util.List;

/** Blocks are pinned for each message, chunk by chunk, while earlier chunks are on their way: which chunk is best. */
final class OpenMxFig10 {
    static final Experiment EXPERIMENT = new Experiment(
            "open-mx-fig10",
            OpenMx.PAPER,
            "Figure 10, pinning overlapped with the transfer, by chunk",
            Status.READY,
            new SetUp(
                    List.of("via:shm"),
                    List.of(
                            chunk("4 KiB"),
                            chunk("16 KiB"),
                            chunk("64 KiB"),
                            chunk("128 KiB"),
                            chunk("256 KiB"),
                            chunk("1 MiB"),
                            chunk("16 MiB"),
                            OpenMx.overlapped("growing from 4 KiB to 4 MiB", "4 KiB", "4 MiB")),
                    List.of(),
                    List.of("pingpong"),
                    OpenMx.PINNED_SIZES,
                    false,
                    false),
            OpenMx.pinned(
                    10,
                    "Overlapped pinning by chunk",
                    "The last way is what Open-MX settled on: chunks of 1 to 1024 pages.",
                    "small chunks, against large ones",
                    "10 % more"));

    private OpenMxFig10() {}

    private static Variation chunk(String bytes) {
        return OpenMx.overlapped("chunks of " + bytes, bytes, bytes);
    }
}
