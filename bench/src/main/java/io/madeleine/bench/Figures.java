package io.madeleine.bench;

import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Usage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The figures of a row, in the pattern's unit: the extremes of all samples, and the median of the rounds' medians,
 * which one disturbance of the machine does not change.
 *
 * <p>Threading: immutable.
 *
 * @param min the smallest sample
 * @param median the median of the rounds' medians
 * @param p99 the sample that 99 % do not exceed
 * @param max the largest
 * @param rounds the median of each round
 * @param usage what messages cost, as medians over the rounds
 */
record Figures(double min, double median, double p99, double max, List<Double> rounds, Usage usage) {
    /** Copies the list. */
    Figures {
        rounds = List.copyOf(rounds);
    }

    /** Computes the figures of at least one round. */
    static Figures of(List<Round> rounds) {
        List<Double> medians = rounds.stream().map(Round::median).toList();
        return new Figures(
                rounds.stream().mapToDouble(Round::min).min().orElseThrow(),
                median(medians.stream().mapToDouble(Double::doubleValue).toArray()),
                percentile(rounds, 0.99),
                rounds.stream().mapToDouble(Round::max).max().orElseThrow(),
                medians,
                new Usage(
                        medianOf(rounds, Usage::allocatedBytes),
                        medianOf(rounds, Usage::driverCpuPercent),
                        medianOf(rounds, Usage::responderCpuPercent),
                        medianOf(rounds, Usage::contextSwitches)));
    }

    /**
     * The difference of the rounds' largest and smallest median, as a fraction of the median.
     * If the median is 0, it is a fraction of the largest.
     */
    double spread() {
        double largest = rounds.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        double smallest = rounds.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
        double difference = largest - smallest;
        return difference == 0 ? 0 : difference / (median == 0 ? largest : median);
    }

    private static double medianOf(List<Round> rounds, ToDoubleFunction<Usage> figure) {
        return median(rounds.stream().map(Round::usage).mapToDouble(figure).toArray());
    }

    /** The median: the value in the middle, or the mean of the two in the middle. */
    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private record Weighted(double value, double weight) {}

    /** A percentile over all rounds; each round's values are weighted by the number of its samples. */
    private static double percentile(List<Round> rounds, double part) {
        List<Weighted> all = new ArrayList<>();
        double total = 0;
        for (Round round : rounds) {
            double weight = round.samples() / (double) round.values().size();
            round.values().forEach(value -> all.add(new Weighted(value, weight)));
            total += round.samples();
        }
        all.sort(Comparator.comparingDouble(Weighted::value));
        double below = 0;
        for (Weighted next : all) {
            below += next.weight();
            if (below >= part * total) {
                return next.value();
            }
        }
        return all.getLast().value();
    }
}
