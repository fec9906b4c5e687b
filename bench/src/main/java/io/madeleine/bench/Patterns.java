package io.madeleine.bench;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.mpi.MpiBenchmarks;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All patterns there are, in the order in which they are measured.
 *
 * <p>Threading: stateless.
 */
final class Patterns {
    private static final List<Pattern> ALL = Stream.of(
                    Pattern.OF_MESSAGES, List.of(Pattern.REGISTER), Pattern.OF_LINES, MpiBenchmarks.patterns())
            .flatMap(List::stream)
            .toList();

    private Patterns() {}

    static List<Pattern> all() {
        return ALL;
    }

    /**
     * The pattern with that word.
     *
     * @throws IllegalArgumentException if there is none; it says which there are
     */
    static Pattern of(String word) {
        return ALL.stream()
                .filter(pattern -> pattern.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no pattern " + word + ": expected some of "
                        + ALL.stream().map(Pattern::word).collect(Collectors.joining(", "))));
    }
}
