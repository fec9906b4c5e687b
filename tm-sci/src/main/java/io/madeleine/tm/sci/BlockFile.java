package io.madeleine.tm.sci;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * A file of memory that peers can map, as its owner sees it.
 *
 * <p>Threading: thread-safe.
 */
final class BlockFile {
    private final int number;
    private final MemorySegment end;
    private final int most;
    private final BitSet exports = new BitSet();

    /**
     * Of that number.
     *
     * @param end the end of the file or all of it, mapped
     * @param controlBytes how much of that the {@link BlockLayout} has
     */
    BlockFile(int number, MemorySegment end, long controlBytes) {
        this.number = number;
        this.end = end;
        this.most = BlockLayout.exports(controlBytes);
    }

    int number() {
        return number;
    }

    /** The end of the file; not there any more once the file is freed. */
    MemorySegment end() {
        return end;
    }

    /** How many exports there can be at a time. */
    int exports() {
        return most;
    }

    /** Takes an export; -1 if there is none left. */
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

    /** Tells those who have it mapped that it is no more. */
    void free() {
        try {
            BlockLayout.free(end);
            CutMemory.settle();
        } catch (InternalError _) {
            // cut short: whoever has it mapped finds out
        }
    }
}
