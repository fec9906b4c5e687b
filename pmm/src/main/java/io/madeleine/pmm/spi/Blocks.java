package io.madeleine.pmm.spi;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies of blocks. {@link MemorySegment#copy} has a fixed cost that shows for small blocks; the first sizes go by typed
 * loads and stores.
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

    /** The property is for experiments that measure what this is worth. */
    private static final long BY_HAND_BYTES = Long.getLong("io.madeleine.pmm.copy-by-hand", 64);

    private Blocks() {}

    /** Copies {@code bytes} bytes; the ranges must not overlap. */
    public static void copy(
            MemorySegment source, long sourceOffset, MemorySegment target, long targetOffset, long bytes) {
        if (bytes > BY_HAND_BYTES) {
            MemorySegment.copy(source, sourceOffset, target, targetOffset, bytes);
            return;
        }
        long done = 0;
        for (; bytes - done >= Long.BYTES; done += Long.BYTES) {
            target.set(LONG, targetOffset + done, source.get(LONG, sourceOffset + done));
        }
        if (bytes - done >= Integer.BYTES) {
            target.set(INT, targetOffset + done, source.get(INT, sourceOffset + done));
            done += Integer.BYTES;
        }
        for (; done < bytes; done++) {
            target.set(BYTE, targetOffset + done, source.get(BYTE, sourceOffset + done));
        }
    }
}
