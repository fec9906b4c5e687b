package io.madeleine.bench.measure;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;

/**
 * What messages hold: bytes that depend on the message's number and on their place, so that a lost, repeated, shifted
 * or stale part shows.
 *
 * <p>Threading: stateless.
 */
final class Contents {
    private static final long ODD = 0x9E3779B97F4A7C15L;

    private Contents() {}

    private static long word(long number, long index) {
        long word = (number + 1) * ODD + index * 0xBF58476D1CE4E5B9L;
        return word ^ (word >>> 29);
    }

    /** Fills the first {@code bytes} bytes with the contents of message {@code number}. */
    static void fill(MemorySegment block, long bytes, long number) {
        long words = bytes / Long.BYTES;
        for (long i = 0; i < words; i++) {
            block.set(Blocks.LONG, i * Long.BYTES, word(number, i));
        }
        for (long at = words * Long.BYTES; at < bytes; at++) {
            block.set(Blocks.BYTE, at, (byte) (word(number, words) >>> (8 * (at % Long.BYTES))));
        }
    }

    /**
     * Compares.
     *
     * @throws IllegalStateException if the block does not hold the contents of message {@code number}
     */
    static void check(MemorySegment block, long bytes, long number) {
        long words = bytes / Long.BYTES;
        for (long i = 0; i < words; i++) {
            if (block.get(Blocks.LONG, i * Long.BYTES) != word(number, i)) {
                throw wrong(bytes, number, i * Long.BYTES);
            }
        }
        for (long at = words * Long.BYTES; at < bytes; at++) {
            if (block.get(Blocks.BYTE, at) != (byte) (word(number, words) >>> (8 * (at % Long.BYTES)))) {
                throw wrong(bytes, number, at);
            }
        }
    }

    private static IllegalStateException wrong(long bytes, long number, long at) {
        return new IllegalStateException("message " + number + " of " + bytes
                + " bytes does not hold what was sent: it differs within 8 bytes from byte " + at + " on");
    }
}
