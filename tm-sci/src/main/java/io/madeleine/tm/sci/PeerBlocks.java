package io.madeleine.tm.sci;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The {@linkplain SharedBlocks shared blocks} of the process at the other end, mapped when they are first read.
 *
 * <p>Threading: guarded by the connection's receive lock.
 */
final class PeerBlocks {
    private final SessionDirectory directory;
    private final FileStem peer;
    private final Arena arena;
    private @Nullable MemorySegment[] mapped = new MemorySegment[0];

    PeerBlocks(SessionDirectory directory, FileStem peer, Arena arena) {
        this.directory = directory;
        this.peer = peer;
        this.arena = arena;
    }

    /** Reads, and answers how many bytes that were: all, or 0 if they cannot be had this way. */
    long read(long place, MemorySegment target, long offset, long bytes) {
        MemorySegment block = block(SharedBlocks.number(place));
        long from = SharedBlocks.offset(place);
        if (block == null || from + bytes > block.byteSize()) {
            return 0;
        }
        try {
            MemorySegment.copy(block, from, target, offset, bytes);
            CutMemory.settle();
        } catch (InternalError e) {
            if (CutMemory.isWhole(block)) {
                throw e; // the target's
            }
            mapped[SharedBlocks.number(place)] =
                    target.asSlice(0, 0); // it comes through cells, if its owner still has it
            return 0;
        }
        return bytes;
    }

    private @Nullable MemorySegment block(int number) {
        if (number >= SharedBlocks.MAX_BLOCKS) {
            return null;
        }
        if (number >= mapped.length) {
            mapped = Arrays.copyOf(mapped, Math.max(number + 1, 2 * mapped.length));
        }
        if (mapped[number] == null) {
            mapped[number] = map(number);
        }
        return mapped[number];
    }

    private @Nullable MemorySegment map(int number) {
        try {
            return SegmentFile.openToRead(directory.blockFile(peer, number), arena);
        } catch (IOException | UnsupportedOperationException _) {
            return null; // it comes through cells
        }
    }
}
