package io.madeleine.tm.sci;

import java.util.Optional;

/**
 * What a process tells its peers of its shared memory. Whether two processes see the same session directory is asked of
 * the file system: the same device and file number in the same run of the same kernel, whatever path leads there.
 *
 * <p>Threading: immutable.
 *
 * @param bootId the run of the host's kernel
 * @param directoryId device and number of the session directory
 * @param stem what the process's files are called
 * @param directory the session directory's path, for messages only
 */
record SciAddress(String bootId, String directoryId, FileStem stem, String directory) {
    private static final String SCHEME = "sci1";
    private static final String SEPARATOR = ";";
    private static final int PARTS = 5;

    /** Reads what {@link #toString()} wrote. */
    static Optional<SciAddress> parse(String text) {
        String[] parts = text.split(SEPARATOR, PARTS);
        if (parts.length != PARTS || !parts[0].equals(SCHEME)) {
            return Optional.empty();
        }
        return FileStem.parse(parts[3]).map(stem -> new SciAddress(parts[1], parts[2], stem, parts[4]));
    }

    /** Why this process cannot reach one with that address, or empty. */
    Optional<String> unreachable(SciAddress peer) {
        if (!bootId.equals(peer.bootId)) {
            return Optional.of("it runs on another host");
        }
        if (!directoryId.equals(peer.directoryId)) {
            return Optional.of("it keeps its shared memory in " + peer.directory + ", which is not the " + directory
                    + " of this process; set " + SciConfig.ROOT + ".directory alike, and let containers share it");
        }
        return Optional.empty();
    }

    @Override
    public String toString() {
        return String.join(SEPARATOR, SCHEME, bootId, directoryId, stem.toString(), directory);
    }
}
