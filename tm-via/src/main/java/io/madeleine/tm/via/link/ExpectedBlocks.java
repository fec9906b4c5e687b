package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The blocks that a receiver expects payload for, as far as they can be granted: long stretches of native memory.
 *
 * <p>Threading: guarded by the receiver's lock.
 */
final class ExpectedBlocks {
    /** A shorter stretch is not worth a registration. */
    private static final int LEAST_BYTES = 4096;

    private MemorySegment[] memories = new MemorySegment[8];
    private long[] offsets = new long[8];
    private long[] positions = new long[8];
    private long[] lengths = new long[8];
    private int first;
    private int end;
    private long endPosition;

    /** Adds blocks for the payload behind what is expected, or taken, already. */
    void add(BufferGroup blocks, long takenPosition) {
        endPosition = Math.max(endPosition, takenPosition);
        while (!blocks.isEmpty()) {
            long bytes = blocks.bytesInShortRanges(LEAST_BYTES);
            if (bytes == 0) {
                bytes = blocks.bytes(0);
                if (bytes >= LEAST_BYTES && blocks.segment(0).isNative()) {
                    add(blocks.segment(0), blocks.offset(0), endPosition, bytes);
                }
            }
            endPosition += bytes;
            blocks.advance(bytes);
        }
    }

    private void add(MemorySegment memory, long offset, long position, long bytes) {
        if (end == memories.length) {
            makeRoom();
        }
        memories[end] = memory;
        offsets[end] = offset;
        positions[end] = position;
        lengths[end++] = bytes;
    }

    private void makeRoom() {
        int count = end - first;
        int capacity = first >= memories.length / 2 ? memories.length : 2 * memories.length;
        memories = Arrays.copyOfRange(memories, first, first + capacity);
        offsets = Arrays.copyOfRange(offsets, first, first + capacity);
        positions = Arrays.copyOfRange(positions, first, first + capacity);
        lengths = Arrays.copyOfRange(lengths, first, first + capacity);
        first = 0;
        end = count;
    }

    /** The position behind all that is expected. */
    long endPosition() {
        return endPosition;
    }

    /** Drops blocks that lie before a position. */
    void dropBefore(long position) {
        while (first < end && positions[first] + lengths[first] <= position) {
            dropFirst();
        }
    }

    void dropFirst() {
        memories[first++] = MemorySegment.NULL;
        if (first == end) {
            first = 0;
            end = 0;
        }
    }

    /** Drops the part of the block in front that lies before a position. */
    void cutBefore(long position) {
        long bytes = position - positions[first];
        positions[first] += bytes;
        offsets[first] += bytes;
        lengths[first] -= bytes;
        if (lengths[first] <= 0) {
            dropFirst();
        }
    }

    boolean isEmpty() {
        return first == end;
    }

    /** The position of the block in front; {@link Long#MAX_VALUE} if there is none. */
    long firstPosition() {
        return isEmpty() ? Long.MAX_VALUE : positions[first];
    }

    /** How many bytes the block in front has from a position on. */
    long bytesFrom(long position) {
        return positions[first] + lengths[first] - position;
    }

    MemorySegment firstMemory() {
        return memories[first];
    }

    /** The offset in the block in front of the byte at a position. */
    long offsetOf(long position) {
        return offsets[first] + position - positions[first];
    }

    /** Drops all; what is expected next begins at this position. */
    void clear(long takenPosition) {
        while (!isEmpty()) {
            dropFirst();
        }
        endPosition = takenPosition;
    }
}
