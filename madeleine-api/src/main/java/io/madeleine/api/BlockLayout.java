package io.madeleine.api;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A block that lies in several ranges of memory: gathered when it is packed, scattered when it is unpacked (an I/O
 * vector; MPI's vector and hindexed types). It travels as one block of {@link #byteSize()} bytes, in the order of its
 * ranges. The layout itself does not travel: the other side may use another layout of the same size, or a contiguous
 * block.
 *
 * <pre>
 *   BlockLayout column = BlockLayout.strided(matrix, 8 * j, 8, 8 * columns, rows);
 *   BlockLayout halo = BlockLayout.of(new BlockLayout.Part(grid, 0, 64), new BlockLayout.Part(edge, 128, 4096));
 * </pre>
 *
 * <p>Make a layout once and use it for many messages: making one allocates, using one does not. Ranges of zero bytes
 * are dropped. Parts of one range that are adjacent in a segment are joined, and so are the ranges of a part without
 * gaps.
 *
 * <p>Ownership: a layout keeps its segments reachable, but not alive: a message that moves a range of a closed arena
 * fails.
 *
 * <p>Threading: immutable.
 */
public final class BlockLayout {
    /**
     * Ranges of equal length at equal distances in one segment; a single range if {@code count} is 1.
     *
     * @param segment the memory, native or on the heap
     * @param offset where the first range begins in the segment, in bytes
     * @param bytes the length of each range
     * @param strideBytes the distance from the start of a range to the start of the next one, in bytes; may be
     *     negative, or less than {@code bytes} (overlapping ranges) in a layout that is only packed
     * @param count how many ranges
     */
    public record Part(MemorySegment segment, long offset, long bytes, long strideBytes, int count) {
        /**
         * Checks that every range lies in the segment, unless {@code count} is 0.
         *
         * @throws IndexOutOfBoundsException if a range does not
         * @throws IllegalArgumentException if {@code bytes} or {@code count} is negative
         */
        public Part {
            Objects.requireNonNull(segment, "segment");
            if (bytes < 0 || count < 0) {
                throw new IllegalArgumentException("a part of a block layout has " + count + " ranges of " + bytes
                        + " bytes; expected 0 or more of both");
            }
            if (count > 0) {
                checkRange(segment, offset, bytes, 0, count);
                checkRange(segment, lastOffset(offset, strideBytes, count), bytes, count - 1, count);
            }
        }

        public Part(MemorySegment segment, long offset, long bytes) {
            this(segment, offset, bytes, bytes, 1);
        }

        private static long lastOffset(long offset, long strideBytes, int count) {
            try {
                return Math.addExact(offset, Math.multiplyExact(strideBytes, count - 1L));
            } catch (ArithmeticException _) {
                throw new IndexOutOfBoundsException("a part of a block layout has " + count + " ranges from offset "
                        + offset + " on with a stride of " + strideBytes
                        + " bytes; expected the offset of the last range not to overflow a long");
            }
        }

        private static void checkRange(MemorySegment segment, long offset, long bytes, int number, int count) {
            if (offset < 0 || offset > segment.byteSize() - bytes) {
                throw new IndexOutOfBoundsException("range " + number + " of " + count
                        + " of a part of a block layout has " + bytes + " bytes at offset " + offset
                        + "; expected it to lie within its segment of " + segment.byteSize() + " bytes");
            }
        }

        private boolean isEmpty() {
            return bytes == 0 || count == 0;
        }

        private Part asOneRangeIfItIs() {
            return count > 1 && strideBytes == bytes ? new Part(segment, offset, bytes * count) : this;
        }

        private boolean goesOnAfter(Part before) {
            return count == 1
                    && before.count == 1
                    && isSame(before.segment, segment)
                    && before.offset + before.bytes == offset;
        }
    }

    private final Part[] parts;

    /** Offset of each part in the block, in bytes; the last element is the size of the block. */
    private final long[] starts;

    private final int rangeCount;
    private final long longestRangeBytes;
    private final List<MemorySegment> segments;
    private final boolean readOnly;
    private final boolean overlapping;

    /** Identity, not equality: equal segments may differ in their scope, and in whether they are writable. */
    @SuppressWarnings("MemorySegmentReferenceEquality")
    private static boolean isSame(MemorySegment one, MemorySegment other) {
        return one == other;
    }

    private BlockLayout(List<Part> given) {
        this.parts = given.toArray(Part[]::new);
        this.starts = new long[parts.length + 1];
        List<MemorySegment> distinct = new ArrayList<>();
        long ranges = 0;
        long longest = 0;
        boolean someReadOnly = false;
        boolean someOverlapping = false;
        for (int i = 0; i < parts.length; i++) {
            Part part = parts[i];
            starts[i + 1] = endOf(starts[i], part);
            ranges += part.count;
            longest = Math.max(longest, part.bytes);
            someReadOnly |= part.segment.isReadOnly();
            someOverlapping |= part.count > 1 && Math.abs(part.strideBytes) < part.bytes;
            if (distinct.isEmpty() || !isSame(distinct.getLast(), part.segment)) {
                distinct.add(part.segment);
            }
        }
        if (ranges > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "a block layout has " + ranges + " ranges; expected at most " + Integer.MAX_VALUE);
        }
        this.rangeCount = (int) ranges;
        this.longestRangeBytes = longest;
        this.segments = List.copyOf(distinct);
        this.readOnly = someReadOnly;
        this.overlapping = someOverlapping;
    }

    private static long endOf(long start, Part part) {
        try {
            return Math.addExact(start, Math.multiplyExact(part.bytes, (long) part.count));
        } catch (ArithmeticException _) {
            throw new IllegalArgumentException("the ranges of a block layout add up to more than " + Long.MAX_VALUE
                    + " bytes; expected a sum within that");
        }
    }

    /**
     * Returns a layout of one range.
     *
     * @throws IndexOutOfBoundsException if it does not lie in the segment
     */
    public static BlockLayout of(MemorySegment segment, long offset, long bytes) {
        return of(new Part(segment, offset, bytes));
    }

    /** Returns a layout of these parts, in this order. */
    public static BlockLayout of(Part... parts) {
        return of(Arrays.asList(parts));
    }

    /** Returns a layout of these parts, in this order. */
    public static BlockLayout of(List<Part> parts) {
        List<Part> joined = new ArrayList<>(parts.size());
        for (Part given : parts) {
            Objects.requireNonNull(given, "part");
            if (given.isEmpty()) {
                continue;
            }
            Part part = given.asOneRangeIfItIs();
            if (!joined.isEmpty() && part.goesOnAfter(joined.getLast())) {
                Part before = joined.removeLast();
                part = new Part(part.segment, before.offset, before.bytes + part.bytes);
            }
            joined.add(part);
        }
        return new BlockLayout(joined);
    }

    /**
     * Returns a layout of ranges of equal length at equal distances, such as a column of a matrix stored row by row.
     *
     * @param offset where the first range begins, in bytes
     * @param bytes the length of each range
     * @param strideBytes the distance from the start of a range to the start of the next one, in bytes; may be negative
     * @param count how many ranges
     * @throws IndexOutOfBoundsException if a range does not lie in the segment
     */
    public static BlockLayout strided(MemorySegment segment, long offset, long bytes, long strideBytes, int count) {
        return of(new Part(segment, offset, bytes, strideBytes, count));
    }

    /** The sum of the lengths of all ranges in bytes: the size of the block. */
    public long byteSize() {
        return starts[parts.length];
    }

    /** The number of ranges that are not empty; adjacent parts of one range in a segment count as one. */
    public int rangeCount() {
        return rangeCount;
    }

    /** The length of the longest range in bytes; 0 if there is none. */
    public long longestRangeBytes() {
        return longestRangeBytes;
    }

    /** The number of parts, without empty ones and with adjacent ones joined. */
    public int partCount() {
        return parts.length;
    }

    /** The part with the given index, from 0 on. */
    public Part part(int index) {
        return parts[index];
    }

    /** The offset of a part in the block, in bytes; for {@link #partCount()} the size of the block. */
    public long startOfPart(int index) {
        return starts[index];
    }

    /** The index of the part that contains the byte at {@code position} of the block. */
    public int partAt(long position) {
        Objects.checkIndex(position, byteSize());
        if (parts.length == 1) {
            return 0;
        }
        int found = Arrays.binarySearch(starts, position);
        return found >= 0 ? found : -found - 2;
    }

    /** The segments of the parts, in order; a segment may occur more than once. */
    public List<MemorySegment> segments() {
        return segments;
    }

    /** Whether the thread may access all of the memory. */
    public boolean isAccessibleBy(Thread thread) {
        for (int i = 0; i < segments.size(); i++) {
            if (!segments.get(i).isAccessibleBy(thread)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a part of the memory is read-only, so that nothing can be unpacked into it. */
    public boolean isReadOnly() {
        return readOnly;
    }

    /** Whether ranges of one part overlap, so that nothing can be unpacked into them. */
    public boolean isOverlapping() {
        return overlapping;
    }

    /** Layouts with equal parts are equal. */
    @Override
    public boolean equals(Object other) {
        return other instanceof BlockLayout layout && Arrays.equals(parts, layout.parts);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(parts);
    }

    @Override
    public String toString() {
        return "block of " + byteSize() + " bytes in " + rangeCount + " ranges";
    }
}
