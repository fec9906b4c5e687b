package io.madeleine.pmm.spi;

import io.madeleine.api.BlockLayout;
import java.lang.foreign.MemorySegment;

/**
 * A stretch of the session's memory: what is registered with a network, or mapped by a peer, as one.
 *
 * <p>Threading: immutable.
 *
 * @param number tells it from the others that there are now: small, and given to another region when this one is gone, so that
 *     a module keeps what it knows of regions in an array
 * @param segment all of it
 * @param base the address of its first byte
 * @param bytes how long it is
 * @param kind what memory it is
 * @param remark why it is not {@link Kind#SHARED} though that was asked for; empty otherwise
 */
public record Region(int number, MemorySegment segment, long base, long bytes, Kind kind, String remark) {
    /** What memory a region is. */
    public enum Kind {
        /** This process's own. */
        ORDINARY,

        /** This process's own, on pages larger than usual as far as the system has them. */
        LARGE_PAGES,

        /** Made by a {@link MemorySource}: peers can reach it. */
        SHARED
    }

    /** Of this memory. */
    public Region(int number, MemorySegment segment, Kind kind, String remark) {
        this(number, segment, segment.address(), segment.byteSize(), kind, remark);
    }

    /** Whether some of this memory is in it. */
    public boolean overlaps(MemorySegment memory) {
        return memory.isNative() && memory.address() - base < bytes && base - memory.address() < memory.byteSize();
    }

    /** Whether some of the segments that a layout has ranges in lie in it. */
    public boolean overlaps(BlockLayout layout) {
        for (MemorySegment segment : layout.segments()) {
            if (overlaps(segment)) {
                return true;
            }
        }
        return false;
    }

    /** Whether all of these addresses are in it. */
    public boolean contains(long address, long length) {
        long offset = address - base;
        return offset >= 0 && length >= 0 && length <= bytes && offset <= bytes - length;
    }
}
