package io.madeleine.pmm.spi;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Finds what the reader of an error message probably meant to write.
 *
 * <p>Threading: stateless.
 */
public final class Suggestions {
    private Suggestions() {}

    /** Returns "; did you mean X?", or an empty string if no candidate is near. */
    public static String didYouMean(String written, Collection<String> candidates) {
        return nearest(written, candidates)
                .map(candidate -> "; did you mean " + candidate + "?")
                .orElse("");
    }

    /** The nearest candidate within at most two edits, and at most a third of the word's length. */
    public static Optional<String> nearest(String written, Collection<String> candidates) {
        int allowed = Math.clamp(written.length() / 3, 1, 2);
        return candidates.stream()
                .filter(candidate -> distance(written, candidate) <= allowed)
                .min(Comparator.comparingInt(candidate -> distance(written, candidate)));
    }

    /** Joins values to "a, b or c". */
    public static String anyOf(Collection<String> values) {
        String list = values.stream().collect(Collectors.joining(", "));
        int last = list.lastIndexOf(", ");
        return last < 0 ? list : list.substring(0, last) + " or " + list.substring(last + 2);
    }

    /** The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
    static int distance(String a, String b) {
        int[][] edits = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                edits[i][j] = i == 0 || j == 0 ? i + j : cheapest(a, b, i, j, edits);
            }
        }
        return edits[a.length()][b.length()];
    }

    private static int cheapest(String a, String b, int i, int j, int[][] edits) {
        int replace = edits[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        int best = Math.min(replace, 1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
        boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(best, edits[i - 2][j - 2] + 1) : best;
    }
}
