package io.madeleine.bench.experiment;

import java.util.List;

/**
 * One way in which an experiment measures a network of ours.
 *
 * <p>Threading: immutable.
 *
 * @param name what the figures call it; empty if it is the only one
 * @param settings key=value each, over those of the user
 * @param javaOptions what the measuring JVMs get
 * @param senders how many processes send to the first one
 * @param singleCopy whether it makes no sense without single copy
 */
public record Variation(String name, List<String> settings, List<String> javaOptions, int senders, boolean singleCopy) {
    /** As it is. */
    public static final Variation PLAIN = new Variation("", List.of(), List.of(), 1, false);

    /** Copies the lists. */
    public Variation {
        settings = List.copyOf(settings);
        javaOptions = List.copyOf(javaOptions);
    }

    /** With these settings. */
    static Variation with(String name, String... settings) {
        return new Variation(name, List.of(settings), List.of(), 1, false);
    }

    /** A variation with these settings, if there is single copy. */
    static Variation withSingleCopy(String name, String... settings) {
        return new Variation(name, List.of(settings), List.of(), 1, true);
    }

    /** A variation with these options of the JVMs. */
    static Variation withJavaOptions(String name, String... options) {
        return new Variation(name, List.of(), List.of(options), 1, false);
    }

    /** With this many senders. */
    public static Variation ofSenders(int senders) {
        return new Variation(senders == 1 ? "1 sender" : senders + " senders", List.of(), List.of(), senders, false);
    }
}
