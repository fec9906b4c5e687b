package io.madeleine.tm.sci.shared;

import io.madeleine.tm.sci.memory.TruncatedFiles;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * A file of memory that peers can map, as its owner sees it: its number, its control area and its exports.
 *
 * <p>Threading: thread-safe.
 */
final class BlockFile {
    private final int number;
    private final MemorySegment end;
    private final int most;
    private final BitSet exports = new BitSet();

    /**
     * Wraps a file.
     *
     * @param number its number, see {@link BlockFiles}
     * @param end the mapped end of the file, or the whole file
     * @param controlBytes the size of the {@link BlockFileLayout} control area in it
     */
    BlockFile(int number, MemorySegment end, long controlBytes) {
        this.number = number;
        this.end = end;
        this.most = BlockFileLayout.exports(controlBytes);
    }

    int number() {
        return number;
    }

    /** The mapped end of the file. An access after the file was freed throws {@link IllegalStateException}. */
    MemorySegment end() {
        return end;
    }

    /** The most exports at a time. */
    int exports() {
        return most;
    }

    /** Takes an export; -1 if all are in use. */
    synchronized int takeExport() {
        int free = exports.nextClearBit(0);
        if (free >= most) {
            return -1;
        }
        exports.set(free);
        return free;
    }

    synchronized void giveBack(int export) {
        exports.clear(export);
    }

    /** Marks the file as freed, so that peers unmap it. */
    void free() {
        try {
            BlockFileLayout.free(end);
            TruncatedFiles.settle();
        } catch (InternalError _) {
            // The file was cut short: a peer that has it mapped finds this out itself.
        }
    }
}
