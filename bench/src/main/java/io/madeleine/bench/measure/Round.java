package io.madeleine.bench.measure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/**
 * What one measurement of a row found: its samples, in the pattern's unit. More than {@value #MOST_VALUES} samples are
 * told by as many of them, evenly spaced in their order.
 *
 * <p>Threading: immutable.
 *
 * @param samples how many there were
 * @param min the smallest
 * @param median the middle one
 * @param max the largest
 * @param values the samples in ascending order, or some of them
 * @param usage what the messages cost
 */
public record Round(long samples, double min, double median, double max, List<Double> values, Usage usage) {
    /** How many values tell a measurement. */
    static final int MOST_VALUES = 256;

    private static final String MARK = "round";

    /** Copies the list. */
    public Round {
        values = List.copyOf(values);
    }

    /** Of durations; in a rate, the longest duration is the smallest value. */
    static Round of(Pattern pattern, long bytes, Histogram durationsNs, long messagesPerSample, Usage usage) {
        boolean inverse = !pattern.isDuration();
        int count = (int) Math.min(MOST_VALUES, durationsNs.getTotalCount());
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            double percentile = 100.0 * (i + 0.5) / count;
            long durationNs = durationsNs.getValueAtPercentile(inverse ? 100 - percentile : percentile);
            values.add(pattern.value(Math.max(1, durationNs), messagesPerSample, bytes));
        }
        long shortestNs = Math.max(1, durationsNs.getMinValue());
        long longestNs = Math.max(1, durationsNs.getMaxValue());
        return new Round(
                durationsNs.getTotalCount(),
                pattern.value(inverse ? longestNs : shortestNs, messagesPerSample, bytes),
                pattern.value(Math.max(1, durationsNs.getValueAtPercentile(50)), messagesPerSample, bytes),
                pattern.value(inverse ? shortestNs : longestNs, messagesPerSample, bytes),
                values,
                usage);
    }

    /** Of half round trips in us, the bandwidths of messages of that size in MB/s. */
    public Round asBandwidth(long bytes) {
        return new Round(
                samples,
                bytes / max,
                bytes / median,
                bytes / min,
                values.reversed().stream().map(us -> bytes / us).toList(),
                usage);
    }

    /** One line between the measuring process and the one that reports. */
    String line() {
        return String.format(
                Locale.ROOT,
                "%s %d %s %s %s %s %s %s %s %s",
                MARK,
                samples,
                min,
                median,
                max,
                usage.allocatedBytes(),
                usage.driverCpuPercent(),
                usage.responderCpuPercent(),
                usage.contextSwitches(),
                values.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }

    /**
     * What {@link #line} wrote.
     *
     * @throws IllegalArgumentException if it is something else
     */
    static Round parse(String line) {
        String[] words = line.split(" ", -1);
        if (words.length != 10 || !words[0].equals(MARK)) {
            throw new IllegalArgumentException("expected a result, not '" + line + "'");
        }
        double[] numbers =
                Arrays.stream(words, 2, 9).mapToDouble(Double::parseDouble).toArray();
        return new Round(
                Long.parseLong(words[1]),
                numbers[0],
                numbers[1],
                numbers[2],
                Arrays.stream(words[9].split(",")).map(Double::valueOf).toList(),
                new Usage(numbers[3], numbers[4], numbers[5], numbers[6]));
    }
}
