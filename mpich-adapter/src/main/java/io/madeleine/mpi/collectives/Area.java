package io.madeleine.mpi.collectives;

import java.lang.foreign.MemorySegment;

/**
 * A contiguous range of memory.
 *
 * <p>Threading: immutable; its content is guarded by the steps of the schedule.
 *
 * @param segment the memory
 * @param offset where the range begins, in bytes
 * @param bytes its length
 */
public record Area(MemorySegment segment, long offset, long bytes) {
    /** Memory of its own. */
    public static Area allocate(long bytes) {
        return new Area(MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]), 0, bytes);
    }

    /** A part of this range. */
    public Area slice(long from, long length) {
        return new Area(segment, offset + from, length);
    }

    /** The range as a segment. */
    public MemorySegment memory() {
        return segment.asSlice(offset, bytes);
    }

    /** Whether a byte belongs to both ranges. */
    boolean overlaps(Area other) {
        return memory().asOverlappingSlice(other.memory()).isPresent();
    }

    /** Copies the content of another range to the beginning of this one. */
    public void copyFrom(Area source) {
        MemorySegment.copy(source.segment, source.offset, segment, offset, source.bytes);
    }
}
