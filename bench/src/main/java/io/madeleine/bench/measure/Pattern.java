package io.madeleine.bench.measure;

import java.util.List;

/**
 * What is measured, and in which unit. The constants here are patterns of messages and calls, and of what a process
 * does alone; a library with benchmarks of its own, such as MPI, names them itself ({@link #ofProgram}).
 *
 * <p>Threading: immutable.
 */
public final class Pattern {
    /** Half the time of a round trip. */
    public static final Pattern LATENCY =
            new Pattern("latency", Measure.MICROSECONDS, "half round trip", Kind.ROUND_TRIP);

    /** The same as the OSU benchmarks measure it: a process sends a block that it has not received. */
    public static final Pattern OSU_LATENCY = new Pattern(
            "osu-latency",
            Measure.MICROSECONDS,
            "half round trip, each sends an untouched block and receives into another",
            Kind.ROUND_TRIP);

    /** Bytes per time while one end streams. */
    public static final Pattern BANDWIDTH =
            new Pattern("bandwidth", Measure.BANDWIDTH, "streaming, 1 MB is 10^6 bytes", Kind.STREAM);

    /** Messages per time while one end streams. */
    public static final Pattern RATE = new Pattern("rate", Measure.RATE, "streaming", Kind.STREAM);

    /** Bytes over half the time of a round trip: the bandwidth that PingPong benchmarks report. */
    public static final Pattern PINGPONG =
            new Pattern("pingpong", Measure.BANDWIDTH, "bytes over half a round trip", Kind.ROUND_TRIP);

    /** The time that sending takes while nobody receives. */
    public static final Pattern SEND =
            new Pattern("send", Measure.NANOSECONDS, "sending while the receiver is busy elsewhere", Kind.BURST);

    /** The time that it takes to receive a message that has arrived. */
    public static final Pattern RECEIVE =
            new Pattern("receive", Measure.NANOSECONDS, "receiving what has arrived", Kind.BURST);

    /** Messages per time at one receiver, from all that send to it at once. */
    public static final Pattern INCAST =
            new Pattern("incast", Measure.RATE, "received by one from all senders", Kind.INCAST);

    /** Half the time of a round trip after both processes have computed for 1 ms. */
    public static final Pattern COMPUTE_1MS = new Pattern(
            "compute-1ms", Measure.MICROSECONDS, "half round trip after both have computed for 1 ms", Kind.ROUND_TRIP);

    /** The same after 5 ms. */
    public static final Pattern COMPUTE_5MS = new Pattern(
            "compute-5ms", Measure.MICROSECONDS, "half round trip after both have computed for 5 ms", Kind.ROUND_TRIP);

    /** Half the time of a request and its reply, with a handler that the receiving thread runs. */
    public static final Pattern RSR =
            new Pattern("rsr", Measure.MICROSECONDS, "half a remote service request and its reply", Kind.CALL);

    /** The same with a handler in a virtual thread. */
    public static final Pattern RSR_VTHREAD = new Pattern(
            "rsr-vthread", Measure.MICROSECONDS, "half a request to a threaded handler and its reply", Kind.CALL);

    /** The same for a method of a typed service. */
    public static final Pattern RSR_TYPED =
            new Pattern("rsr-typed", Measure.MICROSECONDS, "half a call of a typed service", Kind.CALL);

    /** Typed calls per time with many of them under way. */
    public static final Pattern RSR_TYPED_RATE =
            new Pattern("rsr-typed-rate", Measure.CALLS, "typed calls, 64 under way", Kind.CALL);

    /** The time to register memory with a network and to end the registration, in one process. */
    public static final Pattern REGISTER =
            new Pattern("register", Measure.MICROSECONDS, "registering memory and ending the registration", Kind.LOCAL);

    /** How much of a line that loses datagrams is payload, of one sender. */
    public static final Pattern GOODPUT =
            new Pattern("goodput", Measure.PERCENT, "payload, of the rate of a line that loses datagrams", Kind.LINE);

    /** How much of a line is payload, of many senders at once to one receiver. */
    public static final Pattern GOODPUT_INCAST = new Pattern(
            "goodput-incast", Measure.PERCENT, "payload of many senders, of the rate of their line", Kind.LINE);

    /** Those that need a line between two hosts. */
    public static final List<Pattern> OF_LINES = List.of(GOODPUT, GOODPUT_INCAST);

    /** The patterns of messages and calls, in the order in which they are measured. */
    public static final List<Pattern> OF_MESSAGES = List.of(
            LATENCY,
            OSU_LATENCY,
            BANDWIDTH,
            RATE,
            PINGPONG,
            SEND,
            RECEIVE,
            INCAST,
            COMPUTE_1MS,
            COMPUTE_5MS,
            RSR,
            RSR_VTHREAD,
            RSR_TYPED,
            RSR_TYPED_RATE);

    private static final long MILLISECOND_NS = 1_000_000;

    private final String word;
    private final Measure measure;
    private final String meaning;
    private final Kind kind;

    /** What its figures are. */
    public enum Measure {
        /** Microseconds per message or operation. */
        MICROSECONDS("us", true),
        /** Nanoseconds per message. */
        NANOSECONDS("ns", true),
        /** Millions of bytes per second. */
        BANDWIDTH("MB/s", false),
        /** Messages per second. */
        RATE("msg/s", false),
        /** Calls per second. */
        CALLS("call/s", false),
        /** A percentage; a larger one is better. */
        PERCENT("%", false);

        private final String unit;
        private final boolean isDuration;

        Measure(String unit, boolean isDuration) {
            this.unit = unit;
            this.isDuration = isDuration;
        }

        /** The figure of {@code messages} messages in {@code elapsedNs}; a percentage is none of these. */
        public double value(double elapsedNs, double messages, long bytes) {
            return switch (this) {
                case MICROSECONDS -> elapsedNs / (1e3 * messages);
                case NANOSECONDS -> elapsedNs / messages;
                case BANDWIDTH -> 1e3 * bytes * messages / elapsedNs;
                case RATE, CALLS -> 1e9 * messages / elapsedNs;
                case PERCENT -> throw new IllegalArgumentException("a percentage is not of one time");
            };
        }
    }

    /** The loops that measure a pattern. */
    private enum Kind {
        ROUND_TRIP,
        STREAM,
        BURST,
        INCAST,
        CALL,
        LOCAL,
        LINE,
        PROGRAM,
        PROGRAM_WITHOUT_BLOCKS
    }

    private Pattern(String word, Measure measure, String meaning, Kind kind) {
        this.word = word;
        this.measure = measure;
        this.meaning = meaning;
        this.kind = kind;
    }

    /** A pattern that a program measures with loops of its own, in all processes. */
    public static Pattern ofProgram(String word, Measure measure, String meaning) {
        return new Pattern(word, measure, meaning, Kind.PROGRAM);
    }

    /** As {@link #ofProgram}, of calls without data: it is measured once, and not for each size. */
    public static Pattern ofProgramWithoutBlocks(String word, Measure measure, String meaning) {
        return new Pattern(word, measure, meaning, Kind.PROGRAM_WITHOUT_BLOCKS);
    }

    /** The unit of its figures. */
    public String unit() {
        return measure.unit;
    }

    /** What its figures are. */
    public Measure measure() {
        return measure;
    }

    /** The meaning of the figure, in a few words. */
    public String meaning() {
        return meaning;
    }

    /** The pattern that is measured for it: its figures follow from the figures of that pattern. */
    public Pattern measured() {
        return this == PINGPONG ? LATENCY : this;
    }

    /** Whether more messages have to be under way than some wires hold. */
    public boolean isBurst() {
        return kind == Kind.BURST;
    }

    /** For how long both processes compute before each exchange, in nanoseconds; 0 if they do not. */
    public long computeNs() {
        return this == COMPUTE_1MS ? MILLISECOND_NS : this == COMPUTE_5MS ? 5 * MILLISECOND_NS : 0;
    }

    /** Whether the responder sends blocks of its own, not those that it received. */
    public boolean isOfOwnBlocks() {
        return this == OSU_LATENCY;
    }

    /** Whether messages go back and forth, one at a time: some wires have nothing else. */
    public boolean isRoundTrip() {
        return kind == Kind.ROUND_TRIP;
    }

    /** Whether one end streams. */
    public boolean isStream() {
        return kind == Kind.STREAM;
    }

    /** Whether a smaller figure is better. */
    public boolean isDuration() {
        return measure.isDuration;
    }

    /** Whether plain messages are exchanged: every wire has those, but some have no bursts. */
    public boolean isOfMessages() {
        return switch (kind) {
            case ROUND_TRIP, STREAM, BURST, INCAST -> true;
            case CALL, LOCAL, LINE, PROGRAM, PROGRAM_WITHOUT_BLOCKS -> false;
        };
    }

    /** Whether a process measures it alone; then no wire has it. */
    public boolean isLocal() {
        return kind == Kind.LOCAL;
    }

    /** Whether it needs a line between two hosts, which {@link Line} makes; then no wire has it. */
    public boolean isOfLine() {
        return kind == Kind.LINE;
    }

    /** Whether it measures requests that are answered, which not every wire has. */
    public boolean isCall() {
        return kind == Kind.CALL;
    }

    /** Whether a program measures it with loops of its own; then no wire has it. */
    public boolean isOfProgram() {
        return kind == Kind.PROGRAM || kind == Kind.PROGRAM_WITHOUT_BLOCKS;
    }

    /** Those of the sizes, in ascending order, for which it is measured: the first alone if it has no blocks. */
    public List<Long> sizesOf(List<Long> sizes) {
        return kind == Kind.PROGRAM_WITHOUT_BLOCKS ? sizes.subList(0, 1) : sizes;
    }

    /** As in options and results. */
    public String word() {
        return word;
    }

    /** The pattern of messages or calls with this word. */
    public static Pattern of(String word) {
        return OF_MESSAGES.stream()
                .filter(pattern -> pattern.word.equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no pattern " + word));
    }

    @Override
    public String toString() {
        return word; // which is how options name it
    }

    /** The value of {@code messages} messages in {@code elapsedNs}; for latency, of as many halves of round trips. */
    double value(long elapsedNs, long messages, long bytes) {
        return measure.value((double) elapsedNs, (double) messages, bytes);
    }
}
