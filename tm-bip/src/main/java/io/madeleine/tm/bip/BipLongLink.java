package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.SendStream;
import java.lang.foreign.MemorySegment;

/**
 * The link of bip/long: the receiver names the memory, and datagrams are placed there as they come, in any order. The
 * first part of a block is sent before the receiver has named anything, and waits in the receiver's window.
 *
 * <p>Headers travel in a stream of their own, so that a place in the stream of payload is the same number for the
 * sender, the datagrams, and {@link #expect}.
 *
 * <p>Threading: as {@link DynamicLink} and {@link PostingLink}.
 */
final class BipLongLink implements DynamicLink, PostingLink {
    /** The part of a block that leaves first, while nothing else is under way. */
    private static final int LEAD_BYTES = 32 * 1024;

    private final BipConnection connection;
    private final TransmissionCapabilities capabilities;
    private final SendStream headers;
    private final SendStream payload;
    private final PacketReader reader;
    private final ExpectedBlocks expected;
    private boolean headerIsOut;
    private boolean awaitsRoom; // guarded by the connection's lock

    BipLongLink(BipConnection connection, TransmissionCapabilities capabilities) {
        this.connection = connection;
        this.capabilities = capabilities;
        this.headers = connection.endpoint().out(DatagramLayout.HEADER_STREAM);
        this.payload = connection.endpoint().out(DatagramLayout.LONG_STREAM);
        this.reader = new PacketReader(
                connection,
                connection.endpoint().in(DatagramLayout.HEADER_STREAM),
                connection.endpoint().in(DatagramLayout.LONG_STREAM));
        this.expected = new ExpectedBlocks(connection.endpoint().in(DatagramLayout.LONG_STREAM));
        connection.endpoint().in(DatagramLayout.LONG_STREAM).placement(expected);
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return capabilities;
    }

    PacketReader reader() {
        return reader;
    }

    /** Whether a sender that had to wait can continue. Under the lock. */
    boolean hasRoomAgain() {
        if (awaitsRoom
                && (connection.isOver()
                        || headers.roomInMemory() >= PacketHeader.BYTES
                                && payload.roomInMemory() >= payload.capacity() / 4)) {
            awaitsRoom = false;
            return true;
        }
        return false;
    }

    /** Whether a sender waits because there is no memory for what it sends. Under the lock. */
    boolean lacksMemory() {
        return awaitsRoom && (headerIsOut ? payload : headers).lacksMemory();
    }

    // ---- sending

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        connection.sendsOver();
        boolean isHeldBack = false;
        connection.lock();
        try {
            if (connection.isOver()) {
                return LinkStatus.CLOSED;
            }
            headerIsOut = headerIsOut || begin(header);
            boolean complete = headerIsOut && drain(group) && (trailer == 0 || append(trailer));
            headerIsOut &= !complete;
            awaitsRoom = !complete;
            isHeldBack = complete && connection.holdsBack(payload);
            return complete ? LinkStatus.COMPLETE : LinkStatus.PENDING;
        } finally {
            if (isHeldBack) {
                connection.unlock();
            } else {
                connection.flushAndUnlock();
            }
        }
    }

    /** Whether the end of a packet that was begun is missing. Under the lock. */
    boolean isInMiddleOfPacket() {
        return headerIsOut;
    }

    private boolean begin(long header) {
        payload.want(PacketHeader.payloadBytes(header));
        return append(header);
    }

    private boolean append(long header) {
        if (headers.roomInMemory() < PacketHeader.BYTES) {
            return false;
        }
        headers.appendLong(header);
        connection.sent(header);
        return true;
    }

    private boolean drain(BufferGroup group) {
        while (!group.isEmpty()) {
            int room = payload.pieceRoom();
            if (room == 0) {
                connection.flushLocked(); // what is sent and acknowledged meanwhile makes room for a later call
                return false;
            }
            if (payload.unsentBytes() >= LEAD_BYTES && connection.endpoint().inFlightBytes() == 0) {
                connection.flushLocked(); // the receiver works on this while the rest is copied
            }
            room = connection.endpoint().inFlightBytes() == 0 ? Math.min(room, LEAD_BYTES) : room;
            long before = group.remainingBytes();
            try {
                group.drainTo(payload.memory(), payload.tailIndex(), room);
            } finally { // also if the memory of a block was freed
                payload.append((int) (before - group.remainingBytes()));
            }
        }
        return true;
    }

    @Override
    public boolean holdsMemory() {
        return false; // what was sent was copied
    }

    // ---- receiving

    @Override
    public void expect(BufferGroup blocks) {
        connection.lock();
        try {
            if (!connection.isClosed()) {
                expected.add(blocks);
            }
        } finally {
            connection.unlock();
        }
    }

    @Override
    public int retract() {
        connection.lock();
        try {
            if (connection.isClosed()) {
                expected.clear();
            } else {
                retractExpected();
            }
            return LinkStatus.COMPLETE;
        } finally {
            connection.unlock();
        }
    }

    private void retractExpected() {
        try {
            expected.retract();
        } catch (OutOfMemoryError e) { // what has arrived has no other place
            expected.clear();
            connection.violated("there was no memory for what it had sent: " + e.getMessage());
        }
    }

    /** Whether blocks are expected. Under the lock. */
    boolean isExpecting() {
        expected.settle();
        return !expected.isEmpty();
    }

    /** Nothing is placed any more. Under the lock. */
    void forgetBlocks() {
        expected.clear();
    }

    @Override
    public long front() {
        return reader.front();
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        return reader.receive(group, maxBytes);
    }

    @Override
    public boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        return reader.receiveWhole(block, offset, bytes);
    }

    @Override
    public long skip(long maxBytes) {
        return reader.skip(maxBytes);
    }

    @Override
    public void release() {
        reader.release();
    }
}
