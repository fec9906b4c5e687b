package io.madeleine.pmm.spi;

import io.madeleine.api.BlockLayout;
import java.lang.foreign.MemorySegment;

/**
 * A stretch of the session's memory that a network registers, or a peer maps, as one.
 *
 * <p>Threading: immutable.
 *
 * @param number a small number, unique among the present regions and reused after this one is gone, so that a module
 *     can keep its data about regions in an array
 * @param segment the whole region
 * @param base the address of its first byte
 * @param bytes its length
 * @param kind the kind of its memory
 * @param remark why the region is not {@link Kind#SHARED} although that was requested; empty otherwise
 */
public record Region(int number, MemorySegment segment, long base, long bytes, Kind kind, String remark) {
    /** The kind of a region's memory. */
    public enum Kind {
        /** Private memory of this process. */
        ORDINARY,

        /** Private memory of this process, on large pages as far as the system has them. */
        LARGE_PAGES,

        /** Memory from a {@link MemorySource}; peers can access it. */
        SHARED
    }

    /** A region of this segment. */
    public Region(int number, MemorySegment segment, Kind kind, String remark) {
        this(number, segment, segment.address(), segment.byteSize(), kind, remark);
    }

    /** Whether the region contains a byte of this segment. */
    public boolean overlaps(MemorySegment memory) {
        return memory.isNative() && memory.address() - base < bytes && base - memory.address() < memory.byteSize();
    }

    /** Whether the region contains a byte of the segments in which a layout has its ranges. */
    public boolean overlaps(BlockLayout layout) {
        for (MemorySegment segment : layout.segments()) {
            if (overlaps(segment)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the region contains all of these addresses. */
    public boolean contains(long address, long length) {
        long offset = address - base;
        return offset >= 0 && length >= 0 && length <= bytes && offset <= bytes - length;
    }
}
