package io.madeleine.tm.sci.link;

import io.madeleine.tm.sci.memory.OrderedWords;

/**
 * The layout of the ring of one direction in a pair segment.
 *
 * <pre>
 *   consumerOffset   the receiver's position, in a line of its own
 *   dataOffset       ring of ringBytes, then room for the record that overruns the ring's end
 *
 *   record:  | PacketHeader (8) | payload, padded to 8 |        at multiples of 8
 * </pre>
 *
 * <p>A record is never split. The last record of a lap may reach into the room behind the ring, and the next record
 * begins at offset 0. So a sender can claim a buffer before it knows how much it will fill, and the ring needs no wrap
 * records.
 *
 * <p>Threading: immutable.
 *
 * @param consumerOffset offset of the word where the receiver publishes its position
 * @param dataOffset where the ring begins
 * @param ringBytes a power of two
 * @param bufferBytes the largest payload, a multiple of 8
 */
public record RingLayout(long consumerOffset, long dataOffset, int ringBytes, int bufferBytes) {
    /**
     * The most that a claim takes beyond its payload: its header, the next header, and one word of slack at the lap's
     * end.
     */
    static final int CLAIM_OVERHEAD_BYTES = 24;

    /** Whether each end caches the other's position. The property is for experiments that measure the gain. */
    static final boolean CACHES_POSITIONS =
            !System.getProperty("io.madeleine.tm.sci.cached-positions", "true").equals("false");

    /** How many of the largest claims a ring holds at least. */
    static final int BUFFERS_PER_RING = 4;

    static RingLayout at(long offset, int ringBytes, int bufferBytes) {
        return new RingLayout(offset, offset + OrderedWords.LINE_BYTES, ringBytes, bufferBytes);
    }

    /** The bytes that position and ring take. */
    public long totalBytes() {
        return OrderedWords.LINE_BYTES + (long) ringBytes + Long.BYTES + bufferBytes;
    }

    /** The smallest ring for buffers of this size. */
    public static long minRingBytes(long bufferBytes) {
        long needed = BUFFERS_PER_RING * (bufferBytes + CLAIM_OVERHEAD_BYTES);
        return Long.highestOneBit(needed - 1) << 1;
    }

    /** The position of the record that follows the one at {@code position}. */
    long next(long position, int payloadBytes) {
        return next(position, payloadBytes, ringBytes - 1);
    }

    /**
     * As {@link #next(long, int)}.
     *
     * @param lapMask the size of the ring less 1
     */
    static long next(long position, int payloadBytes, long lapMask) {
        long end = position + Long.BYTES + OrderedWords.align(payloadBytes, Long.BYTES);
        return Math.min(end, (position | lapMask) + 1);
    }

    /** The offset of the header word of the record at {@code position}. */
    public long headerOffset(long position) {
        return dataOffset + (position & ringBytes - 1);
    }
}
