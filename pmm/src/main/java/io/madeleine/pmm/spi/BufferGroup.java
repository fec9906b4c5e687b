package io.madeleine.pmm.spi;

import io.madeleine.api.BlockLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A sequence of blocks that a link moves in order, with a cursor that says how much has been moved. A group serves
 * message after message; its arrays grow to the largest number of blocks and then allocate nothing.
 *
 * <p>A block is contiguous, or lies in the ranges of a layout. A block in ranges takes one entry, whatever the number
 * of ranges; {@link #segment}, {@link #offset} and {@link #bytes} then describe its first range that has not been
 * moved.
 *
 * <p>Threading: confined to the thread that holds the lock of its direction.
 */
public final class BufferGroup {
    private MemorySegment[] segments = new MemorySegment[8];
    private long[] offsets = new long[8];
    private long[] lengths = new long[8];

    /**
     * The layouts of blocks that lie in ranges; {@code offsets} then holds a position in the layout. Null until the
     * first such block.
     */
    private @Nullable BlockLayout @Nullable [] layouts;

    private int first;
    private int end;
    private long remainingBytes;

    /** An empty group. */
    public BufferGroup() {}

    /** Appends a block; a block of zero bytes adds nothing. */
    public void add(MemorySegment segment, long offset, long bytes) {
        if (bytes == 0) {
            return;
        }
        if (end == segments.length) {
            makeRoomSlowPath();
        }
        segments[end] = segment;
        offsets[end] = offset;
        lengths[end++] = bytes;
        remainingBytes += bytes;
    }

    /**
     * Appends a block that lies in ranges, or a part of one.
     *
     * @param position the offset in the block at which the part begins
     */
    public void add(BlockLayout layout, long position, long bytes) {
        if (bytes == 0) {
            return;
        }
        if (layouts == null) {
            layouts = new BlockLayout[segments.length];
        }
        if (end == segments.length) {
            makeRoomSlowPath();
        }
        layouts[end] = layout;
        offsets[end] = position;
        lengths[end++] = bytes;
        remainingBytes += bytes;
    }

    private void makeRoomSlowPath() {
        int count = end - first;
        if (first >= segments.length / 2) {
            System.arraycopy(segments, first, segments, 0, count);
            System.arraycopy(offsets, first, offsets, 0, count);
            System.arraycopy(lengths, first, lengths, 0, count);
            Arrays.fill(segments, count, end, null);
            if (layouts != null) {
                System.arraycopy(layouts, first, layouts, 0, count);
                Arrays.fill(layouts, count, end, null);
            }
        } else {
            int capacity = 2 * segments.length;
            MemorySegment[] moreSegments = Arrays.copyOfRange(segments, first, first + capacity);
            long[] moreOffsets = Arrays.copyOfRange(offsets, first, first + capacity);
            long[] moreLengths = Arrays.copyOfRange(lengths, first, first + capacity);
            if (layouts != null) {
                // the last allocation before any assignment: an OutOfMemoryError leaves the group as it was
                layouts = Arrays.copyOfRange(layouts, first, first + capacity);
            }
            segments = moreSegments;
            offsets = moreOffsets;
            lengths = moreLengths;
        }
        first = 0;
        end = count;
    }

    /** How many bytes are still to be moved. */
    public long remainingBytes() {
        return remainingBytes;
    }

    /** Whether nothing is left to move. */
    public boolean isEmpty() {
        return remainingBytes == 0;
    }

    /** How many blocks are left, the one in front included. */
    public int count() {
        return end - first;
    }

    private @Nullable BlockLayout layout(int block) {
        return layouts == null ? null : layouts[block];
    }

    /**
     * The segment of the i-th block left, 0 being the one in front; for a block in ranges, that of its first range
     * left.
     */
    public MemorySegment segment(int i) {
        BlockLayout layout = layout(first + i);
        return layout == null
                ? segments[first + i]
                : layout.part(layout.partAt(offsets[first + i])).segment();
    }

    /** The offset in its segment at which the rest of the i-th block, or of its first range left, begins. */
    public long offset(int i) {
        BlockLayout layout = layout(first + i);
        long position = offsets[first + i];
        if (layout == null) {
            return position;
        }
        int index = layout.partAt(position);
        BlockLayout.Part part = layout.part(index);
        long within = position - layout.startOfPart(index);
        return part.offset() + within / part.bytes() * part.strideBytes() + within % part.bytes();
    }

    /** How many bytes are left of the i-th block, or of its first range left. */
    public long bytes(int i) {
        BlockLayout layout = layout(first + i);
        long left = lengths[first + i];
        if (layout == null) {
            return left;
        }
        long position = offsets[first + i];
        int index = layout.partAt(position);
        long bytes = layout.part(index).bytes();
        return Math.min(left, bytes - (position - layout.startOfPart(index)) % bytes);
    }

    /** Whether the i-th block left lies in the ranges of a layout. */
    public boolean isInRanges(int i) {
        return layout(first + i) != null;
    }

    /** How many bytes are left of the i-th block, over all its ranges. */
    public long blockBytes(int i) {
        return lengths[first + i];
    }

    /**
     * Returns a number of bytes in front that lie only in ranges shorter than the limit, so that a link can copy them
     * in one call: 0 if the first range left is not shorter. The result may be less than the exact number.
     */
    public long bytesInShortRanges(long shorterThanBytes) {
        BlockLayout layout = layout(first);
        boolean allShort = layout != null && layout.longestRangeBytes() < shorterThanBytes;
        long bytes = allShort ? lengths[first] : bytes(0);
        return allShort || bytes < shorterThanBytes ? bytes : 0;
    }

    /** Copies the rest of a block without marking it as moved. */
    public void copyBlock(int block, MemorySegment target, long targetOffset) {
        copyOut(first + block, target, targetOffset, lengths[first + block]);
    }

    /** Appends {@code bytes} bytes of the rest of another group's block, from {@code skippedBytes} on. */
    public void addBlockOf(BufferGroup other, int block, long skippedBytes, long bytes) {
        int there = other.first + block;
        BlockLayout layout = other.layout(there);
        if (layout == null) {
            add(other.segments[there], other.offsets[there] + skippedBytes, bytes);
        } else {
            add(layout, other.offsets[there] + skippedBytes, bytes);
        }
    }

    private void copyOut(int block, MemorySegment target, long targetOffset, long bytes) {
        BlockLayout layout = layout(block);
        if (layout == null) {
            Blocks.copy(segments[block], offsets[block], target, targetOffset, bytes);
        } else {
            Blocks.gather(layout, offsets[block], target, targetOffset, bytes);
        }
    }

    private void copyIn(int block, MemorySegment source, long sourceOffset, long bytes) {
        BlockLayout layout = layout(block);
        if (layout == null) {
            Blocks.copy(source, sourceOffset, segments[block], offsets[block], bytes);
        } else {
            Blocks.scatter(source, sourceOffset, layout, offsets[block], bytes);
        }
    }

    /** Marks {@code bytes} bytes in front as moved. */
    public void advance(long bytes) {
        remainingBytes -= bytes;
        long left = bytes;
        while (left > 0) {
            long here = lengths[first];
            if (left < here) {
                offsets[first] += left;
                lengths[first] = here - left;
                return;
            }
            left -= here;
            if (layouts != null) {
                layouts[first] = null;
            }
            segments[first++] = null;
        }
        if (first == end) {
            first = 0;
            end = 0;
        }
    }

    /**
     * Copies up to {@code maxBytes} from {@code source} into the group's memory and advances; returns the number of
     * bytes.
     */
    public long fillFrom(MemorySegment source, long sourceOffset, long maxBytes) {
        long wanted = Math.min(maxBytes, remainingBytes);
        long moved = 0;
        while (moved < wanted) {
            long here = Math.min(lengths[first], wanted - moved);
            copyIn(first, source, sourceOffset + moved, here);
            advance(here);
            moved += here;
        }
        return moved;
    }

    /**
     * Copies up to {@code maxBytes} of the group's memory to {@code target} and advances; returns the number of bytes.
     */
    public long drainTo(MemorySegment target, long targetOffset, long maxBytes) {
        long wanted = Math.min(maxBytes, remainingBytes);
        long moved = 0;
        while (moved < wanted) {
            long here = Math.min(lengths[first], wanted - moved);
            copyOut(first, target, targetOffset + moved, here);
            advance(here);
            moved += here;
        }
        return moved;
    }

    /** Replaces the memory of a block left by a contiguous copy of it. */
    public void replace(int block, MemorySegment segment, long offset) {
        if (layouts != null) {
            layouts[first + block] = null;
        }
        segments[first + block] = segment;
        offsets[first + block] = offset;
    }

    /**
     * Replaces all memory left by {@code filler} and keeps the number of bytes, so that a link can finish the packet.
     */
    public void replaceMemory(MemorySegment filler) {
        long bytes = remainingBytes;
        clear();
        for (long left = bytes; left > 0; left -= filler.byteSize()) {
            add(filler, 0, Math.min(left, filler.byteSize()));
        }
    }

    /**
     * Whether memory of this region is still to be moved. Any thread may ask. The answer is exact once nothing is added
     * any more; until then it may be out of date.
     */
    public boolean touches(Region region) {
        MemorySegment[] known = segments;
        @Nullable BlockLayout @Nullable [] knownLayouts = layouts;
        int from = Math.max(first, 0);
        int to = Math.min(end, known.length);
        for (int i = from; i < to; i++) {
            MemorySegment segment = known[i];
            BlockLayout layout = knownLayouts == null || i >= knownLayouts.length ? null : knownLayouts[i];
            if (segment != null && region.overlaps(segment) || layout != null && region.overlaps(layout)) {
                return true;
            }
        }
        return false;
    }

    /** Removes all blocks. */
    public void clear() {
        Arrays.fill(segments, first, end, null);
        if (layouts != null) {
            Arrays.fill(layouts, first, end, null);
        }
        first = 0;
        end = 0;
        remainingBytes = 0;
    }
}
