package io.madeleine.api;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A block that lies in several ranges of memory: gathered where it is packed, scattered where it is unpacked (an I/O vector;
 * MPI's vector and hindexed types). It travels as one block of {@link #byteSize()} bytes, in the order of its ranges, and nothing
 * of the layout travels with it: the other side may have another layout of the same size, or a contiguous block.
 *
 * <pre>
 *   BlockLayout column = BlockLayout.strided(matrix, 8 * j, 8, 8 * columns, rows);
 *   BlockLayout halo = BlockLayout.of(new BlockLayout.Part(grid, 0, 64), new BlockLayout.Part(edge, 128, 4096));
 * </pre>
 *
 * <p>Make a layout once and use it for many messages: making one allocates, using one does not. Ranges of zero bytes count for
 * nothing; parts of one range that follow each other in a segment become one, and so do the ranges of a part without gaps. A layout keeps its segments reachable, and nothing else of
 * them: whether they are still alive shows when a message moves them.
 *
 * <p>Threading: immutable.
 */
public final class BlockLayout {
    /**
     * Ranges of one length at equal distances in one segment; a single range where {@code count} is 1.
     *
     * @param segment the memory, native or of the heap
     * @param offset where the first range begins in it, in bytes
     * @param bytes how long each range is
     * @param strideBytes from the beginning of a range to that of the next one; may be negative, or less than {@code bytes} in
     *     what is only packed
     * @param count how many ranges
     */
    public record Part(MemorySegment segment, long offset, long bytes, long strideBytes, int count) {
        /**
         * Checks that every range lies in the segment; of none, nothing is asked.
         *
         * @throws IndexOutOfBoundsException if one does not
         * @throws IllegalArgumentException if a length or count is negative
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

        /** One range. */
        public Part(MemorySegment segment, long offset, long bytes) {
            this(segment, offset, bytes, bytes, 1);
        }

        private static long lastOffset(long offset, long strideBytes, int count) {
            try {
                return Math.addExact(offset, Math.multiplyExact(strideBytes, count - 1L));
            } catch (ArithmeticException _) {
                throw new IndexOutOfBoundsException("the last of " + count + " ranges of a block layout, " + strideBytes
                        + " bytes apart from offset " + offset + " on, lies beyond any memory");
            }
        }

        private static void checkRange(MemorySegment segment, long offset, long bytes, int number, int count) {
            if (offset < 0 || offset > segment.byteSize() - bytes) {
                throw new IndexOutOfBoundsException("range " + number + " of " + count
                        + " of a part of a block layout is " + bytes + " bytes at offset " + offset
                        + "; expected to lie within its segment of " + segment.byteSize() + " bytes");
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

    /** How many bytes lie before each part, and before the end. */
    private final long[] starts;

    private final int rangeCount;
    private final long longestRangeBytes;
    private final List<MemorySegment> segments;
    private final boolean readOnly;
    private final boolean overlapping;

    /** Whether they are one object: equal ones may differ in their scope, and in whether they may be written. */
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
     * One range.
     *
     * @throws IndexOutOfBoundsException if it does not lie in the segment
     */
    public static BlockLayout of(MemorySegment segment, long offset, long bytes) {
        return of(new Part(segment, offset, bytes));
    }

    /** These parts in order. */
    public static BlockLayout of(Part... parts) {
        return of(Arrays.asList(parts));
    }

    /** These parts in order. */
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
     * Ranges of equal length at equal distances, such as a column of a matrix that lies row by row.
     *
     * @param offset where the first range begins
     * @param bytes how long each range is
     * @param strideBytes from the beginning of a range to that of the next one; may be negative
     * @param count how many ranges
     * @throws IndexOutOfBoundsException if one does not lie in the segment
     */
    public static BlockLayout strided(MemorySegment segment, long offset, long bytes, long strideBytes, int count) {
        return of(new Part(segment, offset, bytes, strideBytes, count));
    }

    /** How many bytes all ranges have together: the size of the block. */
    public long byteSize() {
        return starts[parts.length];
    }

    /** How many ranges there are, that have bytes; parts of one range that follow each other in a segment count as one. */
    public int rangeCount() {
        return rangeCount;
    }

    /** The longest of the ranges, in bytes; 0 if there is none. */
    public long longestRangeBytes() {
        return longestRangeBytes;
    }

    /** How many parts there are: those it was made of, without empty ones and with neighbours joined. */
    public int partCount() {
        return parts.length;
    }

    /** The part of that index. */
    public Part part(int index) {
        return parts[index];
    }

    /** How many bytes of the block lie before the part of that index, or before the end for {@link #partCount()}. */
    public long startOfPart(int index) {
        return starts[index];
    }

    /** The index of the part that the byte of the block at {@code position} lies in. */
    public int partAt(long position) {
        Objects.checkIndex(position, byteSize());
        if (parts.length == 1) {
            return 0;
        }
        int found = Arrays.binarySearch(starts, position);
        return found >= 0 ? found : -found - 2;
    }

    /** The segments that ranges lie in, in order; one that comes again later may be named again. */
    public List<MemorySegment> segments() {
        return segments;
    }

    /** Whether that thread may touch all of the memory. */
    public boolean isAccessibleBy(Thread thread) {
        for (int i = 0; i < segments.size(); i++) {
            if (!segments.get(i).isAccessibleBy(thread)) {
                return false;
            }
        }
        return true;
    }

    /** Whether some of the memory cannot be written, so that nothing can be unpacked into it. */
    public boolean isReadOnly() {
        return readOnly;
    }

    /** Whether ranges of a part overlap, so that nothing can be unpacked into them. */
    public boolean isOverlapping() {
        return overlapping;
    }

    /** Equal to layouts of equal parts. */
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
