package io.madeleine.mpi.device;

import io.madeleine.api.BlockLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Parts and copies of block layouts.
 *
 * <p>Threading: without state.
 */
final class Layouts {
    private Layouts() {}

    /** The layout of {@code count} bytes of the block from {@code from} on. */
    static BlockLayout slice(BlockLayout layout, long from, long count) {
        if (from == 0 && count == layout.byteSize()) {
            return layout;
        }
        List<BlockLayout.Part> parts = new ArrayList<>();
        long end = from + count;
        for (int i = 0; i < layout.partCount(); i++) {
            BlockLayout.Part part = layout.part(i);
            long start = layout.startOfPart(i);
            long first = Math.max(from, start) - start;
            long last = Math.min(end, layout.startOfPart(i + 1)) - start;
            if (first < last) {
                add(parts, part, first, last);
            }
        }
        return BlockLayout.of(parts);
    }

    /** Adds the bytes from {@code first} to {@code last} of a part: a partial range, whole ones, a partial range. */
    private static void add(List<BlockLayout.Part> parts, BlockLayout.Part part, long first, long last) {
        long position = first;
        while (position < last) {
            long range = position / part.bytes();
            long within = position % part.bytes();
            long whole = (last - position) / part.bytes();
            long offset = part.offset() + range * part.strideBytes() + within;
            if (within == 0 && whole > 0) {
                parts.add(new BlockLayout.Part(part.segment(), offset, part.bytes(), part.strideBytes(), (int) whole));
                position += whole * part.bytes();
            } else {
                long length = Math.min(part.bytes() - within, last - position);
                parts.add(new BlockLayout.Part(part.segment(), offset, length));
                position += length;
            }
        }
    }

    /** Copies {@code count} bytes into the ranges, in order. */
    static void scatter(MemorySegment source, long start, BlockLayout layout, long count) {
        move(layout, source, start, count, false);
    }

    /** Copies the first {@code count} bytes of the ranges, in order, to one place. */
    static void gather(BlockLayout layout, MemorySegment target, long start, long count) {
        move(layout, target, start, count, true);
    }

    private static void move(BlockLayout layout, MemorySegment whole, long start, long count, boolean gather) {
        long left = count;
        long at = start;
        for (int i = 0; i < layout.partCount() && left > 0; i++) {
            BlockLayout.Part part = layout.part(i);
            long offset = part.offset();
            for (int range = 0; range < part.count() && left > 0; range++) {
                long length = Math.min(part.bytes(), left);
                if (gather) {
                    MemorySegment.copy(part.segment(), offset, whole, at, length);
                } else {
                    MemorySegment.copy(whole, at, part.segment(), offset, length);
                }
                at += length;
                left -= length;
                offset += part.strideBytes();
            }
        }
    }
}
