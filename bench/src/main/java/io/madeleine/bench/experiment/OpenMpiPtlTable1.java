package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import io.madeleine.bench.report.Original.Quote;
import java.util.List;

/** What it costs to wait in the kernel, and to have a thread of its own wait. */
final class OpenMpiPtlTable1 {
    static final Experiment EXPERIMENT = new Experiment(
            "open-mpi-ptl-table1",
            "Open MPI over Quadrics/Elan4 (IPDPS 2006)",
            "Table 1, thread-based asynchronous progress",
            Status.PARTIAL,
            new SetUp(
                    List.of("tcp"),
                    List.of(
                            Variation.with("basic (polling)", "wait.mode=spin"),
                            Variation.with("interrupt (blocking)", "wait.mode=block"),
                            new Variation(
                                    "one thread",
                                    List.of("wait.mode=block"),
                                    List.of("-Dio.madeleine.bench.virtual=true"),
                                    1,
                                    false)),
                    List.of("c-tcp-blocking"),
                    List.of("latency"),
                    List.of(4L, 4L << 10),
                    false,
                    false),
            new Original(
                    "Thread-based asynchronous progress",
                    "Open MPI over Quadrics/Elan4 (IPDPS 2006), table 1",
                    List.of(
                            new Quote("latency", "4 B and 4 KB, basic", "3.87 and 15.25 µs"),
                            new Quote("latency", "4 B and 4 KB, interrupt", "14.70 and 27.16 µs"),
                            new Quote("latency", "4 B and 4 KB, one thread", "22.76 and 32.80 µs"),
                            new Quote("latency", "4 B and 4 KB, two threads", "27.50 and 47.72 µs")),
                    "One thread: the message is waited for in a virtual thread, so that the session's own thread sleeps for it,"
                            + " receives, and wakes it. Two threads do not exist here: there is one place to sleep for all"
                            + " networks and all kinds of completion, which is what the paper recommends (one thread, combined"
                            + " queue), so its fourth column has no counterpart."));

    private OpenMpiPtlTable1() {}
}
