package io.madeleine.tm.sci;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * The numbers of this process's files that peers can map, by which they find them.
 *
 * <p>Threading: thread-safe.
 */
final class BlockFiles {
    /** How many there can be at a time. */
    static final int MAX_FILES = 1 << 16;

    private final SessionDirectory directory;
    private final BitSet numbers = new BitSet();

    BlockFiles(SessionDirectory directory) {
        this.directory = directory;
    }

    synchronized int takeNumber() throws IOException {
        int number = numbers.nextClearBit(0);
        if (number == MAX_FILES) {
            throw new IOException(
                    "there are " + MAX_FILES + " files of shared memory already, as many as there can be");
        }
        numbers.set(number);
        return number;
    }

    synchronized void giveBack(int number) {
        numbers.clear(number);
    }

    Path path(int number) {
        return directory.blockFile(directory.stem(), number);
    }

    /** Deletes the file, and gives its number back. */
    void delete(int number) {
        try {
            Files.deleteIfExists(path(number));
        } catch (IOException _) {
            // it goes with the directory
        }
        giveBack(number);
    }
}
