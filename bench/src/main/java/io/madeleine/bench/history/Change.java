package io.madeleine.bench.history;

import io.madeleine.bench.report.ReportRow;
import java.util.Arrays;
import java.util.List;

/**
 * What became of one row. The rounds of both sides have a spread; a change counts when it is larger than half of the
 * two together, so that the ranges of the rounds hardly meet, and never below 5 %.
 *
 * <p>Threading: immutable.
 *
 * @param before the median, or the median of the medians of several runs
 * @param after the row of now
 * @param noise what the change has to exceed, in parts
 * @param restless whether a row on either side is marked as noisy: such a change is shown and does not count
 */
record Change(double before, ReportRow after, double noise, boolean restless) {
    private static final double LEAST_NOISE = 0.05;

    /** What a change means. */
    enum Verdict {
        SLOWER,
        FASTER,
        SAME
    }

    /** Compares with the same row of earlier runs. */
    static Change of(List<ReportRow> earlier, ReportRow after) {
        double[] medians =
                earlier.stream().mapToDouble(ReportRow::median).sorted().toArray();
        double before = median(medians);
        double apart = (medians[medians.length - 1] - medians[0]) / before;
        double rounds = earlier.stream().mapToDouble(ReportRow::spread).max().orElse(0);
        double noise = Math.max(LEAST_NOISE, (Math.max(apart, rounds) + after.spread()) / 2);
        boolean restless = after.noisy() || earlier.stream().anyMatch(ReportRow::noisy);
        return new Change(before, after, noise, restless);
    }

    /** The value in the middle, or the mean of the two in the middle. */
    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** How many times faster it is now. */
    double speedUp() {
        return after.unit().advantage(after.median(), before);
    }

    Verdict verdict() {
        double speedUp = speedUp();
        return speedUp > 1 + noise ? Verdict.FASTER : speedUp < 1 / (1 + noise) ? Verdict.SLOWER : Verdict.SAME;
    }

    /** Whether it is a regression that can be relied on. */
    boolean isRegression() {
        return verdict() == Verdict.SLOWER && !restless;
    }

    /** Change of the value itself, in percent. */
    double percent() {
        return 100 * (after.median() / before - 1);
    }

    /** As words. */
    String words() {
        String word = switch (verdict()) {
            case SLOWER -> "slower";
            case FASTER -> "faster";
            case SAME -> "";
        };
        return restless && !word.isEmpty() ? "(" + word + ", noisy)" : word;
    }
}
