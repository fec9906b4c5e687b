package io.madeleine.pmm.spi;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies of blocks. A single word goes by a load and a store; everything else by {@link MemorySegment#copy}, which has become
 * as good for small blocks as a loop of typed accesses, and better from 24 bytes on (JDK 25, by {@code CopyBenchmark} and
 * in messages).
 *
 * <p>Threading: stateless.
 */
public final class Blocks {
    /** A byte. */
    public static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    /** Four bytes, little-endian, anywhere. */
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);

    /** Eight bytes, little-endian, anywhere. */
    public static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(LITTLE_ENDIAN);

    /** Switched off to measure what it is worth. */
    private static final boolean BY_WORD = !Boolean.getBoolean("io.madeleine.pmm.copies-in-bulk");

    private Blocks() {}

    /** Copies {@code bytes} bytes; the ranges must not overlap. */
    public static void copy(
            MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long bytes) {
        if (BY_WORD && bytes == Long.BYTES) {
            target.set(LONG, targetOffset, source.get(LONG, sourceOffset));
        } else {
            MemorySegment.copy(source, sourceOffset, target, targetOffset, bytes);
        }
    }
}
