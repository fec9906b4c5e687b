package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import java.io.PrintWriter;
import java.util.List;

/**
 * Somebody else's way to do the same.
 *
 * <p>Threading: immutable.
 *
 * @param name as in options and results
 * @param summary what it is, in a few words
 * @param arguments what may stand behind its name and a colon; empty if it takes none
 * @param maker makes it
 */
public record Peer(String name, String summary, List<String> arguments, Maker maker) {
    /** Makes a subject. */
    @FunctionalInterface
    interface Maker {
        /** To be measured under these conditions; what it prints goes to {@code err}. */
        Subject subject(Asked asked, Conditions conditions, Variant variant, PrintWriter err);
    }

    /** Copies the list. */
    public Peer {
        arguments = List.copyOf(arguments);
    }

    /** Name and summary, and what it takes. */
    public String line() {
        return "  %-15s %s%s"
                .formatted(name, summary, arguments.isEmpty() ? "" : "; with :" + String.join(", :", arguments));
    }

    /**
     * A peer as it was asked for: {@code openmpi} or {@code openmpi:tcp}.
     *
     * @param word all of it
     */
    record Asked(String word) {
        private static final char BETWEEN = ':';

        /** The peer's name. */
        String name() {
            int at = word.indexOf(BETWEEN);
            return at < 0 ? word : word.substring(0, at);
        }

        /** What stands behind the name; empty if nothing does. */
        String argument() {
            int at = word.indexOf(BETWEEN);
            return at < 0 ? "" : word.substring(at + 1);
        }

        /** Whether there is an argument, even an empty one. */
        boolean hasArgument() {
            return word.indexOf(BETWEEN) >= 0;
        }
    }
}
