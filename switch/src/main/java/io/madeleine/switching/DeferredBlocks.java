package io.madeleine.switching;

import io.madeleine.api.BlockLayout;
import io.madeleine.bmm.Staging;
import io.madeleine.pmm.spi.Region;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The queue of an outgoing message's deferred blocks: LATER blocks and all after them, and blocks that found no room.
 * The object is reused from message to message.
 *
 * <p>Threading: confined to the thread that packs, and later to the leader that finishes the message; {@link #touches}
 * may run in any thread.
 */
final class DeferredBlocks {
    private static final int LATER = 1;
    private static final int EXPRESS = 2;

    private @Nullable MemorySegment[] segments = new MemorySegment[8];
    private @Nullable BlockLayout[] layouts = new BlockLayout[8];
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
        makeRoom();
        segments[end] = segment;
        offsets[end] = offset;
        lengths[end] = bytes;
        addFlags(link, later, express);
    }

    /** Adds a block that lies in the ranges of a layout: one entry, whatever the number of ranges. */
    void add(BlockLayout layout, int link, boolean later, boolean express) {
        makeRoom();
        layouts[end] = layout;
        lengths[end] = layout.byteSize();
        addFlags(link, later, express);
    }

    private void makeRoom() {
        if (end == segments.length) {
            grow();
        }
    }

    private void addFlags(int link, boolean later, boolean express) {
        links[end] = link;
        flags[end++] = (later ? LATER : 0) | (express ? EXPRESS : 0);
    }

    /** Grows all arrays or none: an {@link OutOfMemoryError} leaves the state unchanged. */
    private void grow() {
        int capacity = 2 * end;
        @Nullable MemorySegment[] moreSegments = Arrays.copyOf(segments, capacity);
        @Nullable BlockLayout[] moreLayouts = Arrays.copyOf(layouts, capacity);
        long[] moreOffsets = Arrays.copyOf(offsets, capacity);
        long[] moreLengths = Arrays.copyOf(lengths, capacity);
        int[] moreLinks = Arrays.copyOf(links, capacity);
        flags = Arrays.copyOf(flags, capacity);
        segments = moreSegments;
        layouts = moreLayouts;
        offsets = moreOffsets;
        lengths = moreLengths;
        links = moreLinks;
    }

    /** The layout of the first block, or null if it is contiguous. */
    @Nullable
    BlockLayout layout() {
        return layouts[first];
    }

    MemorySegment segment() {
        MemorySegment segment = segments[first];
        if (segment == null) {
            throw new IllegalStateException("no block is deferred");
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
        layouts[first] = null;
        segments[first++] = null;
        if (first == end) {
            first = 0;
            end = 0;
        }
    }

    /** Copies the blocks that {@code other} may not access, before another thread continues with them. */
    void copyConfinedAside(Staging staging, Thread other) {
        for (int i = first; i < end; i++) {
            MemorySegment segment = segments[i];
            if (segment != null && !segment.isAccessibleBy(other)) {
                staging.copy(segment, offsets[i], lengths[i]);
                segments[i] = staging.segment();
                offsets[i] = staging.offset();
            }
            BlockLayout layout = layouts[i];
            if (layout != null && !layout.isAccessibleBy(other)) {
                staging.copy(layout, 0, lengths[i]);
                layouts[i] = null;
                segments[i] = staging.segment();
                offsets[i] = staging.offset();
            }
        }
    }

    /** Whether a block lies in the region; with the guarantees of {@link io.madeleine.pmm.spi.BufferGroup#touches}. */
    boolean touches(Region region) {
        @Nullable MemorySegment[] known = segments;
        @Nullable BlockLayout[] knownLayouts = layouts;
        for (int i = Math.max(first, 0); i < Math.min(end, Math.min(known.length, knownLayouts.length)); i++) {
            MemorySegment segment = known[i];
            BlockLayout layout = knownLayouts[i];
            if (segment != null && region.overlaps(segment) || layout != null && region.overlaps(layout)) {
                return true;
            }
        }
        return false;
    }

    void clear() {
        if (end != 0) {
            Arrays.fill(segments, first, end, null);
            Arrays.fill(layouts, first, end, null);
            first = 0;
            end = 0;
        }
    }
}
