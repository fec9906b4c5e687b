package io.madeleine.integration;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What blocks are filled with: bytes that follow from a seed, so that the receiver knows them, too.
 *
 * <p>Threading: stateless.
 */
final class Contents {
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private Contents() {}

    static void fill(MemorySegment block, long seed) {
        long words = block.byteSize() / Long.BYTES;
        for (long i = 0; i < words; i++) {
            block.set(ValueLayout.JAVA_LONG_UNALIGNED, i * Long.BYTES, word(seed, i));
        }
        long last = word(seed, words);
        for (long i = words * Long.BYTES; i < block.byteSize(); i++, last >>>= Byte.SIZE) {
            block.set(ValueLayout.JAVA_BYTE, i, (byte) last);
        }
    }

    /** Fails with the place of the first word that differs. */
    static void check(MemorySegment block, long seed, Object what) {
        long words = block.byteSize() / Long.BYTES;
        for (long i = 0; i < words; i++) {
            long found = block.get(ValueLayout.JAVA_LONG_UNALIGNED, i * Long.BYTES);
            if (found != word(seed, i)) {
                throw new AssertionError(what + ": at byte " + i * Long.BYTES + " of " + block.byteSize() + " found 0x"
                        + Long.toHexString(found) + ", expected 0x" + Long.toHexString(word(seed, i)));
            }
        }
        long last = word(seed, words);
        for (long i = words * Long.BYTES; i < block.byteSize(); i++, last >>>= Byte.SIZE) {
            byte found = block.get(ValueLayout.JAVA_BYTE, i);
            if (found != (byte) last) {
                throw new AssertionError(what + ": at byte " + i + " of " + block.byteSize() + " found " + found
                        + ", expected " + (byte) last);
            }
        }
    }

    private static long word(long seed, long index) {
        long mixed = (seed + index) * STEP;
        return mixed ^ mixed >>> 29;
    }
}
