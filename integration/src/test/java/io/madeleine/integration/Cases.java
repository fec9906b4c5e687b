package io.madeleine.integration;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/**
 * The combinations that a parameterized test runs, each a line of values between commas: a few that have each value and
 * each kind of path once, and with {@code -Pthorough} all.
 *
 * <p>Threading: stateless.
 */
final class Cases {
    static final boolean THOROUGH = Boolean.getBoolean("thorough");

    private Cases() {}

    /** Those that run always. */
    static Stream<Arguments> always(String... lines) {
        return Arrays.stream(lines)
                .map(line -> Arguments.of((Object[]) line.strip().split(" *, *")));
    }

    /** Those that run with {@code -Pthorough}; else none. */
    static Stream<Arguments> thoroughly(String... lines) {
        return THOROUGH ? always(lines) : Stream.of();
    }
}
