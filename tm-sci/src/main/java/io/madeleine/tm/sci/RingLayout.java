package io.madeleine.tm.sci;

/**
 * Where the ring of one direction lies in a pair segment.
 *
 * <pre>
 *   consumerOffset   the receiver's position, in a line of its own
 *   dataOffset       ring of ringBytes, and behind it room for the record that overruns the ring's end
 *
 *   record:  | PacketHeader (8) | payload, padded to 8 |        at multiples of 8
 * </pre>
 *
 * <p>A record is never split: the last one of a lap may reach into the room behind the ring, and the next begins at
 * offset 0. So a buffer can be claimed before its filling is known, without a record that only says "go on at 0".
 *
 * @param consumerOffset the word where the receiver publishes its position
 * @param dataOffset where the ring begins
 * @param ringBytes a power of two
 * @param bufferBytes the largest payload, a multiple of 8
 */
record RingLayout(long consumerOffset, long dataOffset, int ringBytes, int bufferBytes) {
    /** A claim takes at most this much beyond its payload: its header, the next one's, and that one's lap. */
    static final int CLAIM_OVERHEAD_BYTES = 24;

    /** Whether each end keeps the other's position. The property is for experiments that measure what this is worth. */
    static final boolean CACHES_POSITIONS =
            !System.getProperty("io.madeleine.tm.sci.cached-positions", "true").equals("false");

    /** How many times the largest claim has to fit into a ring. */
    static final int BUFFERS_PER_RING = 4;

    static RingLayout at(long offset, int ringBytes, int bufferBytes) {
        return new RingLayout(offset, offset + Words.LINE_BYTES, ringBytes, bufferBytes);
    }

    /** How many bytes all of it takes. */
    long totalBytes() {
        return Words.LINE_BYTES + (long) ringBytes + Long.BYTES + bufferBytes;
    }

    /** The smallest ring that serves buffers of this size. */
    static long minRingBytes(long bufferBytes) {
        long needed = BUFFERS_PER_RING * (bufferBytes + CLAIM_OVERHEAD_BYTES);
        return Long.highestOneBit(needed - 1) << 1;
    }

    /** Where the record after one that begins at {@code position} begins. */
    long next(long position, int payloadBytes) {
        return next(position, payloadBytes, ringBytes - 1);
    }

    /** The same for who keeps the lap's mask, the size of the ring less 1. */
    static long next(long position, int payloadBytes, long lapMask) {
        long end = position + Long.BYTES + Words.align(payloadBytes, Long.BYTES);
        return Math.min(end, (position | lapMask) + 1);
    }

    /** The header word of the record at {@code position}. */
    long headerOffset(long position) {
        return dataOffset + (position & ringBytes - 1);
    }
}
