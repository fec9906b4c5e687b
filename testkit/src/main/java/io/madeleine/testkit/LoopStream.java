package io.madeleine.testkit;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A pipe of bytes: headers and payloads in sequence, in a ring.
 *
 * <p>Threading: as {@link LoopPipe}.
 */
final class LoopStream extends LoopDynamicPipe {
    private final MemorySegment ring;
    private final long ringBytes;
    private volatile long openHeader;
    private final MemorySegment word = Arena.ofAuto().allocate(PacketHeader.BYTES, Long.BYTES);

    LoopStream(LoopTm sender, LoopTm receiver) {
        super(receiver);
        ringBytes = sender.ringBytes();
        if (ringBytes < 2 * PacketHeader.BYTES) {
            throw new IllegalArgumentException(
                    "a loop module with ringBytes " + ringBytes + "; expected room for two headers, 16 bytes or more");
        }
        ring = Arena.ofAuto().allocate(ringBytes, Long.BYTES);
    }

    private long room() {
        return ringBytes - (produced - consumed);
    }

    @Override
    boolean hasRoom() {
        return room() >= PacketHeader.BYTES;
    }

    @Override
    boolean putHeader(long header) {
        if (room() < PacketHeader.BYTES) {
            return false;
        }
        long position = produced;
        for (int i = 0; i < PacketHeader.BYTES; i++) {
            ring.set(Blocks.BYTE, (position + i) % ringBytes, (byte) (header >>> (8 * i)));
        }
        produced = position + PacketHeader.BYTES;
        return true;
    }

    @Override
    void putPayload(BufferGroup group, long maxBytes) {
        long left = Math.min(maxBytes, room());
        while (left > 0 && !group.isEmpty()) {
            long position = produced;
            long offset = position % ringBytes;
            long remaining = group.remainingBytes();
            try {
                left -= group.drainTo(ring, offset, Math.min(left, ringBytes - offset));
            } finally {
                produced = position + remaining - group.remainingBytes();
            }
        }
    }

    @Override
    boolean hasWork() {
        // An empty packet that was read and left in front counts, too.
        return limit() != consumed || (openHeader != 0 && PacketHeader.payloadBytes(openHeader) == 0);
    }

    @Override
    long front() {
        if (openHeader == 0 && limit() - consumed >= PacketHeader.BYTES) {
            long position = consumed;
            for (int i = 0; i < PacketHeader.BYTES; i++) {
                word.set(Blocks.BYTE, i, ring.get(Blocks.BYTE, (position + i) % ringBytes));
            }
            openHeader = word.get(Blocks.LONG, 0);
            consumed = position + PacketHeader.BYTES;
        }
        return openHeader;
    }

    private long available(long maxBytes) {
        long offset = consumed % ringBytes;
        return Math.min(Math.min(maxBytes, deliverBytes), Math.min(limit() - consumed, ringBytes - offset));
    }

    @Override
    long receive(BufferGroup group, long maxBytes) {
        long position = consumed;
        long before = group.remainingBytes();
        try {
            return group.fillFrom(ring, position % ringBytes, available(maxBytes));
        } finally {
            consumed = position + before - group.remainingBytes(); // also if memory was freed
        }
    }

    @Override
    long skip(long maxBytes) {
        long bytes = available(maxBytes);
        consumed = consumed + bytes;
        return bytes;
    }

    @Override
    void release() {
        openHeader = 0;
    }
}
