package io.madeleine.bench.measure;

import io.madeleine.pmm.WaitMode;
import java.util.List;

/**
 * What is the same for all subjects of a comparison.
 *
 * @param waiting how the processes wait for messages
 * @param pin whether each process is tied to a processor of its own
 * @param ranks how many processes a program of MPI has
 * @param locks whether registrations of memory lock its pages; nothing but {@link Pattern#REGISTER} is measured then
 */
public record Conditions(WaitMode waiting, boolean pin, int ranks, boolean locks) {
    /** For two processes. */
    public Conditions(WaitMode waiting, boolean pin) {
        this(waiting, pin, 2);
    }

    /** For this many processes. */
    public Conditions(WaitMode waiting, boolean pin, int ranks) {
        this(waiting, pin, ranks, false);
    }

    /** The same with registrations that lock their pages. */
    public Conditions locking() {
        return new Conditions(waiting, pin, ranks, true);
    }

    /** The options of every measuring JVM. */
    public List<String> javaOptions() {
        return List.of("-Xms64m", "-XX:+UseSerialGC", "-XX:-UsePerfData");
    }
}
