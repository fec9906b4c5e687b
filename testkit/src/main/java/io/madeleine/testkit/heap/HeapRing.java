package io.madeleine.testkit.heap;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.MemorySegment;

/**
 * One direction of a connection: packets, header and payload, one behind the other.
 *
 * <p>Threading: one thread at a time puts, one takes; what the two share is volatile.
 */
final class HeapRing {
    static final int CAPACITY_BYTES = 1 << 16;

    private final MemorySegment bytes = MemorySegment.ofArray(new byte[CAPACITY_BYTES]);
    private volatile long putCount;
    private volatile long takenCount;

    /** The sender was told to wait for room. */
    volatile boolean isAwaited;

    /** Nothing more will be put: the sender has finished, or has closed without that. */
    volatile boolean hasEnded;

    volatile boolean hasFinished;

    /** The receiver has closed: nothing will be taken. */
    volatile boolean isClosed;

    boolean hasRoom() {
        return CAPACITY_BYTES - (putCount - takenCount) >= PacketHeader.BYTES;
    }

    boolean hasBytes() {
        return putCount != takenCount;
    }

    boolean putHeader(long header) {
        if (!hasRoom()) {
            return false;
        }
        for (int i = 0; i < PacketHeader.BYTES; i++) {
            bytes.set(Blocks.BYTE, offset(putCount + i), (byte) (header >>> Byte.SIZE * i));
        }
        putCount += PacketHeader.BYTES;
        return true;
    }

    /** Takes what there is room for, and says so even if memory of the group turns out to be freed. */
    void put(BufferGroup group) {
        long room = CAPACITY_BYTES - (putCount - takenCount);
        while (room > 0 && !group.isEmpty()) {
            long before = group.remainingBytes();
            long offset = offset(putCount);
            try {
                room -= group.drainTo(bytes, offset, Math.min(room, CAPACITY_BYTES - offset));
            } finally {
                putCount += before - group.remainingBytes();
            }
        }
    }

    /** The next header, or 0 if none is whole. */
    long takeHeader() {
        if (putCount - takenCount < PacketHeader.BYTES) {
            return 0;
        }
        long header = 0;
        for (int i = 0; i < PacketHeader.BYTES; i++) {
            header |= (bytes.get(Blocks.BYTE, offset(takenCount + i)) & 0xFFL) << Byte.SIZE * i;
        }
        takenCount += PacketHeader.BYTES;
        return header;
    }

    long take(BufferGroup group, long maxBytes) {
        long before = group.remainingBytes();
        try {
            return group.fillFrom(bytes, offset(takenCount), contiguous(maxBytes));
        } finally {
            takenCount += before - group.remainingBytes();
        }
    }

    long drop(long maxBytes) {
        long dropped = contiguous(maxBytes);
        takenCount += dropped;
        return dropped;
    }

    private long contiguous(long maxBytes) {
        return Math.min(maxBytes, Math.min(putCount - takenCount, CAPACITY_BYTES - offset(takenCount)));
    }

    private static long offset(long count) {
        return count & CAPACITY_BYTES - 1;
    }
}
