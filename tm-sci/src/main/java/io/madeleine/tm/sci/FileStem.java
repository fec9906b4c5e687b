package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ProcessIdentity;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the names of a process's files begin with: its identity, and a number drawn at start, so that the leftovers of an
 * earlier process of the same identity never are in the way.
 *
 * <p>Threading: immutable.
 *
 * @param identity the process
 * @param nonce drawn at start
 */
record FileStem(ProcessIdentity identity, int nonce) {
    /** The longest text. */
    static final int MAX_LENGTH = 16 + 1 + 10 + 1 + 8;

    private static final int HEX = 16;
    private static final String TEXT = "([0-9a-f]{1,16})\\.([0-9]{1,10})-([0-9a-f]{8})";
    private static final Pattern STEM = Pattern.compile(TEXT);
    private static final Pattern OURS =
            Pattern.compile(TEXT + "((_" + TEXT + ")?_[0-9a-f]{1,16})?\\.(owner|inbox|bell|pair|block|new)");

    /** Reads what {@link #toString()} wrote. */
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
            return Optional.empty(); // an incarnation beyond an int
        }
    }

    /** Whether a file of this name can be one of ours. */
    static boolean isOurs(String fileName) {
        return OURS.matcher(fileName).matches();
    }

    /** The stem that a name of ours begins with, as text. */
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
