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
    private final int leastBytes;
    private MemorySegment[] memories = new MemorySegment[8];
    private long[] offsets = new long[8];
    private long[] positions = new long[8];
    private long[] lengths = new long[8];
    private int first;
    private int end;
    private long endPosition;

    /**
     * Expects nothing.
     *
     * @param leastBytes the shortest stretch that is worth an operation of its own
     */
    ExpectedBlocks(int leastBytes) {
        this.leastBytes = leastBytes;
    }

    /** Adds blocks for the payload behind what is expected, or taken, already. */
    void add(BufferGroup blocks, long takenPosition) {
        endPosition = Math.max(endPosition, takenPosition);
        while (!blocks.isEmpty()) {
            long bytes = blocks.bytesInShortRanges(leastBytes);
            if (bytes == 0) {
                bytes = blocks.bytes(0);
                if (bytes >= leastBytes && blocks.segment(0).isNative()) {
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

    /** How many blocks there are. */
    int count() {
        return end - first;
    }

    /** The memory of the i-th block, 0 being the one in front. */
    MemorySegment memory(int i) {
        return memories[first + i];
    }

    /** Whether the i-th block contains a position. */
    boolean contains(int i, long position) {
        return positions[first + i] <= position && position < positions[first + i] + lengths[first + i];
    }

    /** How many bytes the i-th block has from a position on. */
    long bytesFrom(int i, long position) {
        return positions[first + i] + lengths[first + i] - position;
    }

    /** The offset in the i-th block of the byte at a position. */
    long offsetOf(int i, long position) {
        return offsets[first + i] + position - positions[first + i];
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
