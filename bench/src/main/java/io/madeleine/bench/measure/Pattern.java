package io.madeleine.bench.measure;

import java.util.Locale;

/** What is measured, and in which unit. */
public enum Pattern {
    /** Half the time of a round trip. */
    LATENCY("us", "half round trip"),
    /** Bytes per time while one end streams. */
    BANDWIDTH("MB/s", "streaming, 1 MB is 10^6 bytes"),
    /** Messages per time while one end streams. */
    RATE("msg/s", "streaming");

    private final String unit;
    private final String meaning;

    Pattern(String unit, String meaning) {
        this.unit = unit;
        this.meaning = meaning;
    }

    /** The unit of its figures. */
    public String unit() {
        return unit;
    }

    /** What the figure is, in a few words. */
    public String meaning() {
        return meaning;
    }

    /** As in options and results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The value of {@code messages} messages in {@code elapsedNs}; for latency, of as many halves of round trips. */
    double value(long elapsedNs, long messages, long bytes) {
        return switch (this) {
            case LATENCY -> elapsedNs / (1e3 * messages);
            case BANDWIDTH -> 1e3 * bytes * messages / elapsedNs;
            case RATE -> 1e9 * messages / elapsedNs;
        };
    }
}
