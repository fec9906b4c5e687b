package io.madeleine.tm.sci.shared;

import io.madeleine.tm.sci.files.SessionDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * Assigns numbers to the files that peers can map. A peer finds a file by its number.
 *
 * <p>Threading: thread-safe.
 */
final class BlockFiles {
    /** The most files at a time. */
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
                    "this process has " + MAX_FILES + " files of shared memory already, which is the limit");
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

    /** Deletes a file and releases its number. */
    void delete(int number) {
        try {
            Files.deleteIfExists(path(number));
        } catch (IOException _) {
            // The file is deleted with the directory.
        }
        giveBack(number);
    }
}
