package io.madeleine.switching;

import io.madeleine.bmm.Staging;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of an outgoing message that wait for their turn, in order: LATER ones and all behind them, and what found
 * no room. Reused from message to message.
 *
 * <p>Threading: confined to whoever packs, or later to the leader who finishes the message.
 */
final class DeferredBlocks {
    private static final int LATER = 1;
    private static final int EXPRESS = 2;

    private @Nullable MemorySegment[] segments = new MemorySegment[8];
    private long[] offsets = new long[8];
    private long[] lengths = new long[8];
    private int[] links = new int[8];
    private int[] flags = new int[8];
    private int first;
    private int end;

    boolean isEmpty() {
        return first == end;
    }

    void add(MemorySegment segment, long offset, long bytes, int link, boolean later, boolean express) {
        if (end == segments.length) {
            grow();
        }
        segments[end] = segment;
        offsets[end] = offset;
        lengths[end] = bytes;
        links[end] = link;
        flags[end++] = (later ? LATER : 0) | (express ? EXPRESS : 0);
    }

    /** All or nothing, should memory be short. */
    private void grow() {
        int capacity = 2 * end;
        @Nullable MemorySegment[] moreSegments = Arrays.copyOf(segments, capacity);
        long[] moreOffsets = Arrays.copyOf(offsets, capacity);
        long[] moreLengths = Arrays.copyOf(lengths, capacity);
        int[] moreLinks = Arrays.copyOf(links, capacity);
        flags = Arrays.copyOf(flags, capacity);
        segments = moreSegments;
        offsets = moreOffsets;
        lengths = moreLengths;
        links = moreLinks;
    }

    MemorySegment segment() {
        MemorySegment segment = segments[first];
        if (segment == null) {
            throw new IllegalStateException("no deferred block");
        }
        return segment;
    }

    long offset() {
        return offsets[first];
    }

    long bytes() {
        return lengths[first];
    }

    int link() {
        return links[first];
    }

    boolean isLater() {
        return (flags[first] & LATER) != 0;
    }

    boolean isExpress() {
        return (flags[first] & EXPRESS) != 0;
    }

    void removeFirst() {
        segments[first++] = null;
        if (first == end) {
            first = 0;
            end = 0;
        }
    }

    /** Copies the blocks that {@code stranger} may not touch, before it goes on with them. */
    void copyConfinedAside(Staging staging, Thread stranger) {
        for (int i = first; i < end; i++) {
            MemorySegment segment = segments[i];
            if (segment != null && !segment.isAccessibleBy(stranger)) {
                staging.copy(segment, offsets[i], lengths[i]);
                segments[i] = staging.segment();
                offsets[i] = staging.offset();
            }
        }
    }

    /** Whether memory of a region is among them; as {@link io.madeleine.pmm.spi.BufferGroup#touches} says. */
    boolean touches(Region region) {
        @Nullable MemorySegment[] known = segments;
        for (int i = Math.max(first, 0); i < Math.min(end, known.length); i++) {
            MemorySegment segment = known[i];
            if (segment != null && region.overlaps(segment)) {
                return true;
            }
        }
        return false;
    }

    void clear() {
        if (end != 0) {
            Arrays.fill(segments, first, end, null);
            first = 0;
            end = 0;
        }
    }
}
