package io.madeleine.bench.measure;

import java.util.function.Function;

/**
 * What one measurement is: both processes of a subject get it at the same time.
 *
 * @param pattern what to measure
 * @param bytes the size of a message
 * @param durationNs how long it takes in all
 * @param warmNs how much of that does not count
 * @param settleNs how much longer it warms up, at most, while this process still compiles
 * @param buffers in which memory the messages are
 * @param usage whether processor time and context switches are of interest
 */
public record Order(
        Pattern pattern, long bytes, long durationNs, long warmNs, long settleNs, Buffers buffers, boolean usage) {
    private static final String MARK = "measure";

    /** One line. */
    String line() {
        return String.join(
                " ",
                MARK,
                pattern.word(),
                Long.toString(bytes),
                Long.toString(durationNs),
                Long.toString(warmNs),
                buffers.name(),
                usage ? "1" : "0",
                Long.toString(settleNs)); // last: programs in C have no use for it
    }

    /** What {@link #line} wrote; the pattern is one that this function knows by its word. */
    static Order of(String line, Function<String, Pattern> patterns) {
        String[] words = line.split(" ", -1);
        if (words.length != 8 || !words[0].equals(MARK)) {
            throw new IllegalArgumentException("expected an order to measure, not '" + line + "'");
        }
        return new Order(
                patterns.apply(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                Long.parseLong(words[7]),
                Buffers.valueOf(words[5]),
                words[6].equals("1"));
    }
}
