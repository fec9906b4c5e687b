package io.madeleine.pmm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Allocates blocks from regions, one region after the other. Each new region is as long as all before it together,
 * within bounds, so that an arena with one block takes little more than that block, and one with many blocks soon takes
 * hundreds at once.
 *
 * <p>Threading: guarded by the arena whose memory it hands out.
 */
final class BumpAllocator {
    private final long leastBytes;
    private final long mostBytes;
    private @Nullable MemorySegment region;
    private long usedBytes;
    private long takenBytes;

    /** An allocator of regions of at least and at most these lengths. */
    BumpAllocator(long leastBytes, long mostBytes) {
        this.leastBytes = leastBytes;
        this.mostBytes = mostBytes;
    }

    /** Allocates a block from the current region; returns null if it has no room for it. */
    @Nullable
    MemorySegment allocate(long bytes, long alignment) {
        MemorySegment from = region;
        if (from == null) {
            return null;
        }
        long place = (from.address() + usedBytes + alignment - 1 & -alignment) - from.address();
        if (bytes > from.byteSize() - place) {
            return null;
        }
        usedBytes = place + bytes;
        return from.asSlice(place, bytes);
    }

    /** The length of the next region, which begins with a block of this size. */
    long nextBytes(long bytes) {
        long block = bytes + RegionArena.PAGE_BYTES - 1 & -RegionArena.PAGE_BYTES;
        return Math.max(block, Math.clamp(takenBytes, leastBytes, mostBytes));
    }

    /** Continues with a new region, which must have room for a block of this size, and allocates the block. */
    MemorySegment allocateFrom(MemorySegment next, long bytes, long alignment) {
        region = next;
        usedBytes = 0;
        takenBytes += next.byteSize();
        MemorySegment block = allocate(bytes, alignment);
        if (block == null) {
            throw new IllegalStateException(bytes + " bytes do not fit into a region of " + next.byteSize());
        }
        return block;
    }

    /** Forgets the current region; the next block needs a new one. */
    void reset() {
        region = null;
    }
}
