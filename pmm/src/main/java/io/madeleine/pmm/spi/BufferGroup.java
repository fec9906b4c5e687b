package io.madeleine.pmm.spi;

import io.madeleine.api.BlockLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of memory that are moved in order as one, with the account of how far that has come. Reused from message to
 * message; grows once and then allocates no more.
 *
 * <p>A block is contiguous, or lies in the ranges of a layout; that takes one place here however many ranges there are. What {@link
 * #segment}, {@link #offset} and {@link #bytes} say is of the range in front, of which the others follow when it has been moved.
 *
 * <p>Threading: confined to whoever holds the direction's lock.
 */
public final class BufferGroup {
    private MemorySegment[] segments = new MemorySegment[8];
    private long[] offsets = new long[8];
    private long[] lengths = new long[8];

    /** Of blocks that lie in ranges: the layout, in which the offset is a position; null as long as there has been none. */
    private @Nullable BlockLayout @Nullable [] layouts;

    private int first;
    private int end;
    private long remainingBytes;

    /** An empty group. */
    public BufferGroup() {}

    /** Appends a block; one of zero bytes adds nothing. */
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
     * @param position how many bytes of the block are left out before
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
                layouts =
                        Arrays.copyOfRange(layouts, first, first + capacity); // all or nothing, should memory be short
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

    /** How many blocks are left, the one under way included. */
    public int count() {
        return end - first;
    }

    private @Nullable BlockLayout layout(int block) {
        return layouts == null ? null : layouts[block];
    }

    /** The segment of the i-th block left, 0 being the one under way; of one that lies in ranges, that of the range in front. */
    public MemorySegment segment(int i) {
        BlockLayout layout = layout(first + i);
        return layout == null
                ? segments[first + i]
                : layout.part(layout.partAt(offsets[first + i])).segment();
    }

    /** Where what is left of the i-th block, or of its range in front, begins in its segment. */
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

    /** How many bytes are left of the i-th block, or of its range in front. */
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

    /** How many bytes are left of the i-th block, in all its ranges. */
    public long blockBytes(int i) {
        return lengths[first + i];
    }

    /**
     * How many bytes in front lie in ranges all shorter than that, for who copies such without looking at each: 0 if the range in
     * front is none of them, and maybe less than there are.
     */
    public long bytesInShortRanges(long shorterThanBytes) {
        BlockLayout layout = layout(first);
        boolean allShort = layout != null && layout.longestRangeBytes() < shorterThanBytes;
        long bytes = allShort ? lengths[first] : bytes(0);
        return allShort || bytes < shorterThanBytes ? bytes : 0;
    }

    /** Copies what is left of a block, without marking it as moved. */
    public void copyBlock(int block, MemorySegment target, long targetOffset) {
        copyOut(first + block, target, targetOffset, lengths[first + block]);
    }

    /** Appends a part of what is left of a block of another group, without its first {@code skippedBytes} bytes. */
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

    /** Marks bytes as moved, from the front. */
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

    /** Copies up to {@code maxBytes} out of {@code source} into the group's memory and advances; returns how many. */
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

    /** Copies up to {@code maxBytes} of the group's memory to {@code target} and advances; returns how many. */
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

    /** Lets a block left be read from elsewhere, where it is contiguous. */
    public void replace(int block, MemorySegment segment, long offset) {
        if (layouts != null) {
            layouts[first + block] = null;
        }
        segments[first + block] = segment;
        offsets[first + block] = offset;
    }

    /** Puts {@code filler} in the place of all memory left, keeping the lengths: the packet can be finished without it. */
    public void replaceMemory(MemorySegment filler) {
        long bytes = remainingBytes;
        clear();
        for (long left = bytes; left > 0; left -= filler.byteSize()) {
            add(filler, 0, Math.min(left, filler.byteSize()));
        }
    }

    /**
     * Whether memory of a region is still to be moved. Any thread may ask: the answer is right once nothing is added, and
     * until then may be late.
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

    /** Forgets everything. */
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
