package io.madeleine.bench.report;

import com.typesafe.config.Config;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A row of figures as it stands in JSON: one subject, one pattern, one size.
 *
 * <p>Threading: immutable.
 *
 * @param ours whether Madeleine was measured, not a peer
 * @param name the protocol or the peer
 * @param variant what tells rows of the same name apart, such as the layer; often empty
 * @param pattern what was measured
 * @param sizeBytes the size of a message
 * @param transmissionModule who took the block; empty for peers
 * @param values the figures
 * @param rounds the median of each round; empty if the row does not say
 * @param spread how far the rounds are apart, as a part of the median; 0 if the row does not say
 * @param noisy whether the machine was too restless while this was measured
 * @param costs what a message cost besides time, by the name of the key
 */
public record ReportRow(
        boolean ours,
        String name,
        String variant,
        String pattern,
        long sizeBytes,
        String transmissionModule,
        Values values,
        List<Double> rounds,
        double spread,
        boolean noisy,
        Map<String, String> costs) {
    private static final List<String> COSTS =
            List.of("allocatedBytesPerMessage", "cpuPercent", "contextSwitchesPerMessage");
    private static final List<String> VARIANTS = List.of("setup", "layer", "buffers", "wait");

    private static final double UNCERTAIN_SPREAD = 0.3;

    /** The spread of the samples, in the unit. */
    public record Values(double min, double median, double p99, double max, Unit unit) {}

    static ReportRow of(Config row) {
        Values values = new Values(
                row.getDouble("min"),
                row.getDouble("median"),
                row.getDouble("p99"),
                row.getDouble("max"),
                Unit.of(row.getString("unit")));
        List<Double> rounds = row.hasPath("rounds") ? row.getDoubleList("rounds") : List.of();
        return new ReportRow(
                row.getString("kind").equals("protocol"),
                row.getString("name"),
                VARIANTS.stream().flatMap(key -> text(row, key)).collect(Collectors.joining(" ")),
                row.getString("pattern"),
                row.getLong("sizeBytes"),
                text(row, "transmissionModule").findFirst().orElse(""),
                values,
                rounds,
                row.hasPath("spread") ? row.getDouble("spread") : spread(rounds, values.median()),
                row.hasPath("noisy") && row.getBoolean("noisy"),
                COSTS.stream().filter(row::hasPath).collect(Collectors.toMap(key -> key, key -> plain(row, key))));
    }

    private static String plain(Config row, String key) {
        Object value = row.getAnyRef(key);
        return value instanceof List<?> several
                ? several.stream().map(ReportRow::number).collect(Collectors.joining(" + "))
                : number(value);
    }

    private static String number(Object value) {
        return value instanceof Number number ? Unit.digits(number.doubleValue()) : value.toString();
    }

    private static Stream<String> text(Config row, String key) {
        return row.hasPath(key) ? Stream.of(row.getString(key)) : Stream.empty();
    }

    private static double spread(List<Double> rounds, double median) {
        double most = rounds.stream().mapToDouble(d -> d).max().orElse(0);
        double least = rounds.stream().mapToDouble(d -> d).min().orElse(0);
        return median > 0 ? (most - least) / median : 0;
    }

    /** The name and what tells it apart from others of that name. */
    public String subject() {
        return variant.isEmpty() ? name : name + " " + variant;
    }

    /** Whether to show that not much can be concluded: the machine was noisy, or the rounds do not agree. */
    boolean uncertain() {
        return noisy || spread > UNCERTAIN_SPREAD;
    }

    /** The median of the samples. */
    public double median() {
        return values.median();
    }

    /** The unit of the values. */
    public Unit unit() {
        return values.unit();
    }
}
