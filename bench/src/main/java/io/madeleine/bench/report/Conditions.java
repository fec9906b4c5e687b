package io.madeleine.bench.report;

import java.util.List;
import java.util.stream.Stream;

/**
 * Facts of the machine and costs of messages as people read them.
 *
 * <p>Threading: stateless.
 */
final class Conditions {
    private Conditions() {}

    static String text(String key, String value) {
        return switch (key) {
            case "pinned", "noisy" -> value.equals("true") ? "yes" : "no";
            case "calibrationSpread" -> Unit.digits(100 * Double.parseDouble(value)) + " %";
            default -> value;
        };
    }

    /** The costs that some row says, in a fixed order. */
    static List<String> costs(Rows rows) {
        return Stream.of("allocatedBytesPerMessage", "cpuPercent", "contextSwitchesPerMessage")
                .filter(key ->
                        rows.figures().stream().anyMatch(row -> row.costs().containsKey(key)))
                .toList();
    }

    static String title(String cost) {
        return switch (cost) {
            case "allocatedBytesPerMessage" -> "B/message";
            case "cpuPercent" -> "CPU %";
            case "contextSwitchesPerMessage" -> "Switches/message";
            default -> cost;
        };
    }
}
