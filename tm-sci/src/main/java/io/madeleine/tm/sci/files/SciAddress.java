package io.madeleine.tm.sci.files;

import io.madeleine.tm.sci.memory.SciKeys;
import java.util.Optional;

/**
 * The address of a process for {@code sci}. Two processes can share memory if they see the same session directory: the
 * same device and file number under the same boot of the same kernel. The paths may differ, as in containers.
 *
 * <p>Threading: immutable.
 *
 * @param bootId the kernel's boot id
 * @param directoryId device and file number of the session directory
 * @param stem the prefix of the process's file names
 * @param directory the session directory's path, for error messages only
 */
public record SciAddress(String bootId, String directoryId, FileStem stem, String directory) {
    private static final String SCHEME = "sci1";
    private static final String SEPARATOR = ";";
    private static final int PARTS = 5;

    /** Parses what {@link #toString()} returns; empty if the text is not an address of {@code sci}. */
    public static Optional<SciAddress> parse(String text) {
        String[] parts = text.split(SEPARATOR, PARTS);
        if (parts.length != PARTS || !parts[0].equals(SCHEME)) {
            return Optional.empty();
        }
        return FileStem.parse(parts[3]).map(stem -> new SciAddress(parts[1], parts[2], stem, parts[4]));
    }

    /** Says why this process cannot reach the process with that address; empty if it can. */
    public Optional<String> unreachable(SciAddress peer) {
        if (!bootId.equals(peer.bootId)) {
            return Optional.of("it runs on another host");
        }
        if (!directoryId.equals(peer.directoryId)) {
            return Optional.of("it keeps its shared memory in " + peer.directory + ", which is not the directory "
                    + directory + " of this process; set " + SciKeys.ROOT
                    + ".directory to the same directory for both, and mount that in both containers");
        }
        return Optional.empty();
    }

    @Override
    public String toString() {
        return String.join(SEPARATOR, SCHEME, bootId, directoryId, stem.toString(), directory);
    }
}
