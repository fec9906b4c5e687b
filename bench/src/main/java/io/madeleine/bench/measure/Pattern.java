package io.madeleine.bench.measure;

import java.util.Locale;

/** What is measured, and in which unit. */
public enum Pattern {
    /** Half the time of a round trip. */
    LATENCY("us", "half round trip"),
    /** The same as the OSU benchmarks measure it: what a process sends it has not received. */
    OSU_LATENCY("us", "half round trip, each sends an untouched block and receives into another"),
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
    INCAST("msg/s", "received by one from all senders"),
    /** Half the time of a round trip after both processes have computed for 1 ms. */
    COMPUTE_1MS("us", "half round trip after both have computed for 1 ms"),
    /** The same after 5 ms. */
    COMPUTE_5MS("us", "half round trip after both have computed for 5 ms"),
    /** Half the time of a request and its reply, with a handler that the receiving thread runs. */
    RSR("us", "half a remote service request and its reply"),
    /** The same with a handler in a virtual thread. */
    RSR_VTHREAD("us", "half a request to a threaded handler and its reply"),
    /** The same for a method of a typed service. */
    RSR_TYPED("us", "half a call of a typed service"),
    /** Typed calls per time with many of them under way. */
    RSR_TYPED_RATE("call/s", "typed calls, 64 under way");

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

    /** For how long both processes compute before each exchange, in nanoseconds; 0 if they do not. */
    public long computeNs() {
        return switch (this) {
            case COMPUTE_1MS -> 1_000_000;
            case COMPUTE_5MS -> 5_000_000;
            default -> 0;
        };
    }

    /** Whether the responder sends blocks of its own, not those that it received. */
    public boolean isOfOwnBlocks() {
        return this == OSU_LATENCY;
    }

    /** Whether messages go to and fro, one at a time: all that some wires have. */
    public boolean isRoundTrip() {
        return switch (this) {
            case LATENCY, OSU_LATENCY, PINGPONG, COMPUTE_1MS, COMPUTE_5MS -> true;
            default -> false;
        };
    }

    /** Whether a small figure is a good one. */
    boolean isDuration() {
        return switch (this) {
            case LATENCY, OSU_LATENCY, SEND, RECEIVE, COMPUTE_1MS, COMPUTE_5MS, RSR, RSR_VTHREAD, RSR_TYPED -> true;
            case BANDWIDTH, RATE, PINGPONG, INCAST, RSR_TYPED_RATE -> false;
        };
    }

    /** Whether it is of requests that are answered, which not every wire has. */
    public boolean isCall() {
        return switch (this) {
            case RSR, RSR_VTHREAD, RSR_TYPED, RSR_TYPED_RATE -> true;
            default -> false;
        };
    }

    /** As in options and results. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The one of that word. */
    public static Pattern of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    @Override
    public String toString() {
        return word(); // which is how options name it
    }

    /** The value of {@code messages} messages in {@code elapsedNs}; for latency, of as many halves of round trips. */
    double value(long elapsedNs, long messages, long bytes) {
        return switch (this) {
            case LATENCY, OSU_LATENCY, COMPUTE_1MS, COMPUTE_5MS, RSR, RSR_VTHREAD, RSR_TYPED ->
                elapsedNs / (1e3 * messages);
            case BANDWIDTH, PINGPONG -> 1e3 * bytes * messages / elapsedNs;
            case RATE, INCAST, RSR_TYPED_RATE -> 1e9 * messages / elapsedNs;
            case SEND, RECEIVE -> elapsedNs / (double) messages;
        };
    }
}
