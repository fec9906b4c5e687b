package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/**
 * What each of Nemesis' optimisations is worth in the form that it has here: switched off one at a time. What decides
 * it is a static final field, or which module takes the block, so that it costs the others nothing.
 */
final class NemesisAblations {
    static final Experiment EXPERIMENT = new Experiment(
            "nemesis-ablations",
            "Nemesis (EuroPVM/MPI 2006)",
            "Sections 3.1-3.3, 4.1.2, optimisations one by one",
            Status.READY,
            new SetUp(
                    List.of("sci"),
                    List.of(
                            new Variation("all on", List.of(), List.of(), 1, false),
                            Variation.with(
                                    "without fast lane",
                                    "tm.sci.short.max-block=0",
                                    "tm.sci.regular.cells=64",
                                    "tm.sci.regular.cell=4 KiB"),
                            Variation.withJavaOptions(
                                    "positions not cached", "-Dio.madeleine.tm.sci.cached-positions=false"),
                            Variation.withJavaOptions("copies in bulk", "-Dio.madeleine.pmm.copies-in-bulk=true")),
                    List.of(),
                    List.of("latency", "rate", "send", "receive"),
                    List.of(8L, 32L, 64L, 256L, 1L << 10, 4L << 10),
                    true,
                    false),
            new Original(
                    "Nemesis' optimisations one by one",
                    "Nemesis (EuroPVM/MPI 2006), sections 3.1 to 3.3 and 4.1.2: dual 2 GHz Xeon",
                    List.of(
                            new Quote("latency", "shadow head, one way", "about 200 ns less"),
                            new Quote("latency", "fastboxes, one way", "about 500 ns less"),
                            new Quote("latency", "copies by MMX above 2 KB", "around 400 MBps more"),
                            new Quote("send", "MPI_Send of 8 bytes", "278 instructions (shm: 446)"),
                            new Quote("receive", "MPI_Recv of 8 bytes, arrived", "815 instructions (shm: 1233)")),
                    "The fast lane is the ring of a pair of processes (sci/short); without it each block goes through the"
                            + " cells, behind an empty packet in the ring if it is a message. The shadow head's part is played"
                            + " by positions that each end keeps of the other: without them, the sender reads the receiver's"
                            + " position for each message and the receiver writes it for each. Copies in bulk: no single load and"
                            + " store for eight bytes. Sending and receiving are timed in bursts of 32 messages or 16"
                            + " KiB, the other end looking away; times stand for instructions, which virtual machines do not"
                            + " count. Layer tm is the links alone, channel the public API."));

    private NemesisAblations() {}
}
