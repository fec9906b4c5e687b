package io.madeleine.tm.bip;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.tm.bip.protocol.Placement;
import io.madeleine.tm.bip.protocol.ReceiveStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The blocks that a receiver expects to be filled, by their places in the stream. A block in ranges, or one whose
 * memory was freed or belongs to another thread, is not used: its bytes wait in the ring.
 *
 * <p>Threading: guarded by the connection's lock.
 */
final class ExpectedBlocks implements Placement {
    private static final MemorySegment NO_MEMORY = MemorySegment.NULL;

    private final ReceiveStream stream;
    private MemorySegment[] segments = new MemorySegment[4];
    private long[] positions = new long[4];
    private long[] starts = new long[4];
    private int first;
    private int end;
    private long endOffset; // the stream's offset behind the last block

    ExpectedBlocks(ReceiveStream stream) {
        this.stream = stream;
        Arrays.fill(segments, NO_MEMORY);
    }

    boolean isEmpty() {
        return first == end;
    }

    void add(BufferGroup blocks) {
        settle();
        if (first == end) {
            endOffset = Math.max(endOffset, stream.takenBytes());
        }
        for (int i = 0; i < blocks.count(); i++) {
            makeRoom();
            boolean isUsed = !blocks.isInRanges(i) && !blocks.segment(i).isReadOnly();
            segments[end] = isUsed ? blocks.segment(i) : NO_MEMORY;
            positions[end] = isUsed ? blocks.offset(i) : 0;
            starts[end++] = endOffset;
            endOffset += blocks.blockBytes(i);
        }
    }

    private void makeRoom() {
        if (end < segments.length) {
            return;
        }
        int count = end - first;
        int capacity = 2 * count <= segments.length ? segments.length : 2 * segments.length;
        MemorySegment[] newSegments = new MemorySegment[capacity];
        long[] newPositions = new long[capacity];
        long[] newStarts = new long[capacity];
        Arrays.fill(newSegments, NO_MEMORY);
        System.arraycopy(segments, first, newSegments, 0, count);
        System.arraycopy(positions, first, newPositions, 0, count);
        System.arraycopy(starts, first, newStarts, 0, count);
        segments = newSegments;
        positions = newPositions;
        starts = newStarts;
        first = 0;
        end = count;
    }

    private long endOf(int block) {
        return block + 1 == end ? endOffset : starts[block + 1];
    }

    /** Forgets the blocks whose bytes have been taken. */
    void settle() {
        while (first < end && endOf(first) <= stream.takenBytes()) {
            segments[first++] = NO_MEMORY;
        }
        if (first == end) {
            first = 0;
            end = 0;
        }
    }

    @Override
    public int place(long offset, MemorySegment source, long position, int bytes) {
        int block = first;
        while (block < end && endOf(block) <= offset) {
            block++;
        }
        if (block == end) {
            return -bytes;
        }
        if (offset < starts[block]) {
            return -(int) Math.min(bytes, starts[block] - offset);
        }
        int here = (int) Math.min(bytes, endOf(block) - offset);
        if (segments[block].equals(NO_MEMORY)) {
            return -here;
        }
        try {
            Blocks.copy(source, position, segments[block], positions[block] + (offset - starts[block]), here);
            return here;
        } catch (IllegalStateException | WrongThreadException _) {
            ProgressEngine.afterFreedMemory();
            segments[block] = NO_MEMORY; // freed meanwhile: the reader will find out
            return -here;
        }
    }

    /** Withdraws all blocks; bytes that were placed and not taken move to the ring. */
    void retract() {
        for (long start = stream.placedStart(); start >= 0; start = stream.placedStart()) {
            int block = first;
            while (endOf(block) <= start) {
                block++;
            }
            int bytes = (int) (Math.min(stream.placedEnd(), endOf(block)) - start);
            long position = positions[block] + (start - starts[block]);
            try {
                stream.unplace(start, segments[block], position, bytes);
            } catch (IllegalStateException | WrongThreadException | IndexOutOfBoundsException _) {
                ProgressEngine.afterFreedMemory();
                stream.lose(start, bytes); // its message is aborted: nobody looks at them
            }
        }
        clear();
    }

    void clear() {
        Arrays.fill(segments, NO_MEMORY);
        first = 0;
        end = 0;
        endOffset = 0;
    }
}
