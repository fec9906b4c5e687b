package io.madeleine.bench.measure;

import java.util.Locale;

/** What is measured, and in which unit. */
public enum Pattern {
    /** Half the time of a round trip. */
    LATENCY("us", "half round trip"),
    /** Bytes per time while one end streams. */
    BANDWIDTH("MB/s", "streaming, 1 MB is 10^6 bytes"),
    /** Messages per time while one end streams. */
    RATE("msg/s", "streaming"),
    /** Bytes over half the time of a round trip: the bandwidth that PingPong benchmarks tell. */
    PINGPONG("MB/s", "bytes over half a round trip"),
    /** The time that sending takes while nobody receives. */
    SEND("ns", "sending while the receiver is busy elsewhere"),
    /** The time that receiving a message takes which has arrived. */
    RECEIVE("ns", "receiving what has arrived"),
    /** Messages per time at one receiver, from all that send to it at once. */
    INCAST("msg/s", "received by one from all senders");

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

    /** As what it is measured: its figures follow from those of that pattern. */
    public Pattern measured() {
        return this == PINGPONG ? LATENCY : this;
    }

    /** Whether more messages have to be under way than some wires hold. */
    public boolean isBurst() {
        return this == SEND || this == RECEIVE;
    }

    /** Whether a small figure is a good one. */
    boolean isDuration() {
        return this == LATENCY || isBurst();
    }

    /** As in options and results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The value of {@code messages} messages in {@code elapsedNs}; for latency, of as many halves of round trips. */
    double value(long elapsedNs, long messages, long bytes) {
        return switch (this) {
            case LATENCY -> elapsedNs / (1e3 * messages);
            case BANDWIDTH, PINGPONG -> 1e3 * bytes * messages / elapsedNs;
            case RATE, INCAST -> 1e9 * messages / elapsedNs;
            case SEND, RECEIVE -> elapsedNs / (double) messages;
        };
    }
}
