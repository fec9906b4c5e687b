package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.bip.protocol.ReceiveStream;
import java.lang.foreign.MemorySegment;

/**
 * The receiving half of a link: takes packets out of a stream of headers and a stream of payload, which may be the
 * same.
 *
 * <p>Threading: one thread at a time, which takes the connection's lock.
 */
final class PacketReader {
    private final BipConnection connection;
    private final ReceiveStream headers;
    private final ReceiveStream payload;
    private long front;

    PacketReader(BipConnection connection, ReceiveStream headers, ReceiveStream payload) {
        this.connection = connection;
        this.headers = headers;
        this.payload = payload;
    }

    /** Whether there is something to read; an empty packet in front counts until it is released. Under the lock. */
    boolean hasWork() {
        return front == 0
                ? headers.readableBytes() >= PacketHeader.BYTES
                : payload.readableBytes() > 0 || PacketHeader.payloadBytes(front) == 0;
    }

    /** Whether a packet seems to be there; a hint without the lock. */
    boolean seemsToHavePackets() {
        return front != 0 || headers.readableBytes() >= PacketHeader.BYTES;
    }

    long front() {
        connection.lock();
        try {
            return look();
        } finally {
            connection.unlock();
        }
    }

    private long look() {
        if (connection.isClosed()) {
            return LinkStatus.CLOSED;
        }
        connection.looksForAnswer();
        if (front == 0 && headers.readableBytes() >= PacketHeader.BYTES) {
            long header = headers.takeLong();
            if (!PacketHeader.isValid(header)) {
                connection.violated("it sent an impossible packet header");
                return LinkStatus.CLOSED;
            }
            front = header;
            connection.heardPacket();
        }
        return front == 0 && connection.hasEnded() ? LinkStatus.CLOSED : front;
    }

    long receive(BufferGroup group, long maxBytes) {
        connection.lock();
        long moved = 0;
        try {
            while (!connection.isClosed() && moved < maxBytes) {
                int piece = payload.pieceBytes(maxBytes - moved);
                if (piece == 0) {
                    break;
                }
                moved += payload.isPlaced() ? passPlaced(group, piece) : copy(group, piece);
            }
            return moved;
        } finally {
            connection.tellRoomAndUnlock(headers, payload);
        }
    }

    private long passPlaced(BufferGroup group, int piece) {
        MemorySegment block = group.segment(0);
        if (!block.scope().isAlive()) {
            throw new IllegalStateException("the memory of a block was freed before its data was received");
        }
        if (!block.isAccessibleBy(Thread.currentThread())) {
            throw new WrongThreadException("the memory of a block belongs to another thread");
        }
        int here = (int) Math.min(piece, group.blockBytes(0));
        group.advance(here);
        payload.take(here);
        return here;
    }

    private long copy(BufferGroup group, int piece) {
        long before = group.remainingBytes();
        try {
            return group.fillFrom(payload.memory(), payload.headIndex(), piece);
        } finally { // also if the memory of a block was freed
            payload.take((int) (before - group.remainingBytes()));
        }
    }

    boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        connection.lock();
        try {
            return takeWhole(block, offset, bytes);
        } finally {
            connection.tellRoomAndUnlock(headers, payload);
        }
    }

    private boolean takeWhole(MemorySegment block, long offset, long bytes) {
        if (connection.isClosed() || payload.readableBytes() < bytes || payload.placedStart() >= 0) {
            return false;
        }
        payload.take(block, offset, (int) bytes);
        return true;
    }

    /** Takes the packet with this header if it is in front and whole. */
    boolean receivePacket(long header, MemorySegment block, long offset) {
        int bytes = PacketHeader.payloadBytes(header);
        connection.lock();
        try {
            if (look() != header || bytes > 0 && !takeWhole(block, offset, bytes)) {
                return false;
            }
            front = 0;
            return true;
        } finally {
            connection.tellRoomAndUnlock(headers, payload);
        }
    }

    long skip(long maxBytes) {
        connection.lock();
        try {
            int bytes = connection.isClosed() ? 0 : (int) Math.min(maxBytes, payload.readableBytes());
            payload.take(bytes);
            return bytes;
        } finally {
            connection.tellRoomAndUnlock(headers, payload);
        }
    }

    void release() {
        connection.lock();
        front = 0;
        connection.unlock();
    }
}
