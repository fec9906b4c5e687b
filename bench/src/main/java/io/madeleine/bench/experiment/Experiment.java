package io.madeleine.bench.experiment;

import io.madeleine.bench.report.Original;
import java.util.List;
import java.util.Locale;

/**
 * A figure or table of a paper, and what is measured to redo it. Each one has a file of its own, with a constant, and a
 * line in {@link Experiments}.
 *
 * <p>Threading: immutable.
 *
 * @param id as in {@code --experiment}
 * @param paper where the original is
 * @param figure which one it is
 * @param status how much of it can be redone
 * @param setUp what is measured
 * @param original what the original says
 */
public record Experiment(String id, String paper, String figure, Status status, SetUp setUp, Original original) {
    /** How much of an experiment can be redone. */
    public enum Status {
        /** All of it. */
        READY,
        /** Some of its subjects are not there yet. */
        PARTIAL;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * What is measured; all subjects are drawn on the same axes.
     *
     * @param protocols ours
     * @param variations in which ways
     * @param peers beside ours
     * @param patterns words of the patterns
     * @param sizes of the messages, in bytes
     * @param layers whether the links are measured by themselves, too
     * @param bindings whether, where processes are pinned, each way in which processors share caches is measured
     */
    public record SetUp(
            List<String> protocols,
            List<Variation> variations,
            List<String> peers,
            List<String> patterns,
            List<Long> sizes,
            boolean layers,
            boolean bindings) {
        /** Ours as they are. */
        SetUp(List<String> protocols, List<String> peers, List<String> patterns, List<Long> sizes) {
            this(protocols, List.of(Variation.PLAIN), peers, patterns, sizes, false, false);
        }
    }
}
