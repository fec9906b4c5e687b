package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Blocks of memory that are moved in order as one, with the account of how far that has come. Reused from message to
 * message; grows once and then allocates no more.
 *
 * <p>Threading: confined to whoever holds the direction's lock.
 */
public final class BufferGroup {
    private MemorySegment[] segments = new MemorySegment[8];
    private long[] offsets = new long[8];
    private long[] lengths = new long[8];
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

    private void makeRoomSlowPath() {
        int count = end - first;
        if (first >= segments.length / 2) {
            System.arraycopy(segments, first, segments, 0, count);
            System.arraycopy(offsets, first, offsets, 0, count);
            System.arraycopy(lengths, first, lengths, 0, count);
            Arrays.fill(segments, count, end, null);
        } else {
            MemorySegment[] moreSegments = Arrays.copyOfRange(segments, first, first + 2 * segments.length);
            long[] moreOffsets = Arrays.copyOfRange(offsets, first, first + 2 * offsets.length);
            lengths = Arrays.copyOfRange(
                    lengths, first, first + 2 * lengths.length); // all or nothing, should memory be short
            segments = moreSegments;
            offsets = moreOffsets;
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

    /** The segment of the i-th block left, 0 being the one under way. */
    public MemorySegment segment(int i) {
        return segments[first + i];
    }

    /** Where what is left of the i-th block begins in its segment. */
    public long offset(int i) {
        return offsets[first + i];
    }

    /** How many bytes are left of the i-th block. */
    public long bytes(int i) {
        return lengths[first + i];
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
            Blocks.copy(source, sourceOffset + moved, segments[first], offsets[first], here);
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
            Blocks.copy(segments[first], offsets[first], target, targetOffset + moved, here);
            advance(here);
            moved += here;
        }
        return moved;
    }

    /** Lets the i-th block left be read from elsewhere. */
    public void replace(int i, MemorySegment segment, long offset) {
        segments[first + i] = segment;
        offsets[first + i] = offset;
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
        int from = Math.max(first, 0);
        int to = Math.min(end, known.length);
        for (int i = from; i < to; i++) {
            MemorySegment segment = known[i];
            if (segment != null && region.overlaps(segment)) {
                return true;
            }
        }
        return false;
    }

    /** Forgets everything. */
    public void clear() {
        Arrays.fill(segments, first, end, null);
        first = 0;
        end = 0;
        remainingBytes = 0;
    }
}
