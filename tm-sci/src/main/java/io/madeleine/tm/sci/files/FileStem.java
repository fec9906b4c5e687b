package io.madeleine.tm.sci.files;

import io.madeleine.pmm.spi.ProcessIdentity;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The prefix of a process's file names: its identity and a random number, so that the files of an earlier process with
 * the same identity are never in the way.
 *
 * <p>Threading: immutable.
 *
 * @param identity the process
 * @param nonce a random number, drawn when the process joins
 */
public record FileStem(ProcessIdentity identity, int nonce) {
    /** The length of the longest stem as text. */
    static final int MAX_LENGTH = 16 + 1 + 10 + 1 + 8;

    private static final int HEX = 16;
    private static final String TEXT = "([0-9a-f]{1,16})\\.([0-9]{1,10})-([0-9a-f]{8})";
    private static final Pattern STEM = Pattern.compile(TEXT);
    private static final Pattern OURS =
            Pattern.compile(TEXT + "((_" + TEXT + ")?_[0-9a-f]{1,16})?\\.(owner|inbox|bell|pair|block|new)");

    /** Parses what {@link #toString()} returns; empty if the text is not a stem. */
    static Optional<FileStem> parse(String text) {
        Matcher matcher = STEM.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        try {
            ProcessIdentity identity = new ProcessIdentity(
                    Long.parseUnsignedLong(matcher.group(1), HEX), Integer.parseInt(matcher.group(2)));
            return Optional.of(new FileStem(identity, Integer.parseUnsignedInt(matcher.group(3), HEX)));
        } catch (NumberFormatException _) {
            return Optional.empty(); // an incarnation that does not fit into an int
        }
    }

    /** Whether this name matches a pattern of {@link SessionDirectory}. */
    static boolean isOurs(String fileName) {
        return OURS.matcher(fileName).matches();
    }

    /** The stem at the beginning of a file name, as text; the name itself if it does not begin with a stem. */
    static String leading(String fileName) {
        Matcher matcher = STEM.matcher(fileName);
        return matcher.lookingAt() ? matcher.group() : fileName;
    }

    /** Whether the file of this name belongs to the process. */
    boolean owns(String fileName) {
        String stem = toString();
        return fileName.startsWith(stem + ".") || fileName.startsWith(stem + "_");
    }

    @Override
    public String toString() {
        return "%x.%d-%08x".formatted(identity.id(), identity.incarnation(), nonce);
    }
}
