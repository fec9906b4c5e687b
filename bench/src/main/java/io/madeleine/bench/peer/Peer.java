package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import java.io.PrintWriter;
import java.util.List;

/**
 * A program or library by others that does the same.
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
        /** Creates a subject that is measured under these conditions; what it prints goes to {@code err}. */
        Subject subject(Asked asked, Conditions conditions, Variant variant, PrintWriter err);
    }

    /** Copies the list. */
    public Peer {
        arguments = List.copyOf(arguments);
    }

    /** Its name, its summary and its arguments. */
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

        /** The argument after the name; empty if there is none. */
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
