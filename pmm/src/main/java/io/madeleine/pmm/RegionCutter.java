package io.madeleine.pmm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Cuts blocks out of regions, one region after the other. Each is to be as long as all before it together, within bounds: who
 * takes one block takes little more than that, who takes many soon takes them by the hundred.
 *
 * <p>Threading: guarded by the arena whose memory it cuts.
 */
final class RegionCutter {
    private final long leastBytes;
    private final long mostBytes;
    private @Nullable MemorySegment region;
    private long usedBytes;
    private long takenBytes;

    /** Of regions that are so long at least and at most. */
    RegionCutter(long leastBytes, long mostBytes) {
        this.leastBytes = leastBytes;
        this.mostBytes = mostBytes;
    }

    /** A block of the region there is, or null if it has no room for it. */
    @Nullable
    MemorySegment cut(long bytes, long alignment) {
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

    /** How long the next region is to be, which begins with a block of that size. */
    long nextBytes(long bytes) {
        long block = bytes + RegionArena.PAGE_BYTES - 1 & -RegionArena.PAGE_BYTES;
        return Math.max(block, Math.clamp(takenBytes, leastBytes, mostBytes));
    }

    /** Goes on with another region, which is long enough for a block of that size. */
    MemorySegment cutFrom(MemorySegment next, long bytes, long alignment) {
        region = next;
        usedBytes = 0;
        takenBytes += next.byteSize();
        MemorySegment block = cut(bytes, alignment);
        if (block == null) {
            throw new IllegalStateException(bytes + " bytes do not fit into a region of " + next.byteSize());
        }
        return block;
    }

    /** There is no region any more. */
    void forget() {
        region = null;
    }
}
