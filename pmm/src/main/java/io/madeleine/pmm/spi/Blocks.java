package io.madeleine.pmm.spi;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.madeleine.api.BlockLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies of blocks. A block of 8 bytes is one load and one store. Other small blocks are copied as arrays of bytes: one
 * call of the JDK's copying routine. {@link MemorySegment#copy(MemorySegment, long, MemorySegment, long, long)} moves
 * them word after word, with four virtual calls for each once a process has used heap, native and mapped memory (JDK
 * 25). A channel needed 0.35 us for 48 bytes so, and needs 0.23.
 *
 * <p>Threading: stateless.
 */
public final class Blocks {
    /** One byte. */
    public static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    /** Four bytes, little-endian, unaligned. */
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);

    /** Eight bytes, little-endian, unaligned. */
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(LITTLE_ENDIAN);

    /** From this size on the JDK's copy between segments takes the routine by itself. */
    private static final int LEAST_BULK = 64;

    /** The system property turns the paths for small blocks off, so that a benchmark can measure their gain. */
    private static final boolean BY_WORD = !Boolean.getBoolean("io.madeleine.pmm.copies-in-bulk");

    private Blocks() {}

    /** Copies {@code bytes} bytes; the ranges must not overlap. */
    public static void copy(
            MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long bytes) {
        if (BY_WORD && bytes == Long.BYTES) {
            target.set(LONG, targetOffset, source.get(LONG, sourceOffset));
        } else if (BY_WORD && bytes < LEAST_BULK && areOfKnownClasses(source, target)) {
            MemorySegment.copy(source, BYTE, sourceOffset, target, BYTE, targetOffset, bytes);
        } else {
            MemorySegment.copy(source, sourceOffset, target, targetOffset, bytes);
        }
    }

    /** Always true. The JIT knows the class of a segment after a call of its method, and then makes no virtual call. */
    private static boolean areOfKnownClasses(MemorySegment source, MemorySegment target) {
        return source.byteSize() >= 0 && target.byteSize() >= 0;
    }

    /**
     * Gathers {@code bytes} bytes of a block that lies in the ranges of a layout, starting at {@code position} in the
     * block.
     */
    public static void gather(BlockLayout layout, long position, MemorySegment target, long targetOffset, long bytes) {
        move(layout, position, target, targetOffset, bytes, true);
    }

    /**
     * Scatters {@code bytes} bytes into a block that lies in the ranges of a layout, starting at {@code position} in
     * the block.
     */
    public static void scatter(MemorySegment source, long sourceOffset, BlockLayout layout, long position, long bytes) {
        move(layout, position, source, sourceOffset, bytes, false);
    }

    private static void move(
            BlockLayout layout, long position, MemorySegment flat, long flatOffset, long bytes, boolean gathers) {
        if (bytes == 0) {
            return;
        }
        int index = layout.partAt(position);
        long within = position - layout.startOfPart(index);
        long left = bytes;
        while (left > 0) {
            long here = Math.min(left, layout.startOfPart(index + 1) - layout.startOfPart(index) - within);
            BlockLayout.Part part = layout.part(index++);
            movePart(part, within, flat, flatOffset + (bytes - left), here, gathers);
            within = 0;
            left -= here;
        }
    }

    private static void movePart(
            BlockLayout.Part part, long within, MemorySegment flat, long flatOffset, long bytes, boolean gathers) {
        MemorySegment segment = part.segment();
        long rangeBytes = part.bytes();
        long past = within;
        long offset = part.offset();
        if (past >= rangeBytes) {
            long ranges = past / rangeBytes;
            past -= ranges * rangeBytes;
            offset += ranges * part.strideBytes();
        }
        long there = flatOffset;
        long end = flatOffset + bytes;
        if (past > 0) { // the rest of a partly moved range
            long here = Math.min(rangeBytes - past, bytes);
            copy(segment, offset + past, flat, there, here, gathers);
            there += here;
            offset += part.strideBytes();
        }
        long stride = part.strideBytes();
        for (; there + rangeBytes <= end; there += rangeBytes, offset += stride) {
            copy(segment, offset, flat, there, rangeBytes, gathers);
        }
        if (there < end) { // the beginning of the last range
            copy(segment, offset, flat, there, end - there, gathers);
        }
    }

    private static void copy(
            MemorySegment ranges, long offset, MemorySegment flat, long flatOffset, long bytes, boolean gathers) {
        if (gathers) {
            copy(ranges, offset, flat, flatOffset, bytes);
        } else {
            copy(flat, flatOffset, ranges, offset, bytes);
        }
    }
}
