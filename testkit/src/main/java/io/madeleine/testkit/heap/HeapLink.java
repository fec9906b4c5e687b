package io.madeleine.testkit.heap;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * The link: sends packets to one pipe, receives packets from the other.
 *
 * <p>Threading: as {@link DynamicLink}.
 */
final class HeapLink implements DynamicLink {
    private final HeapConnection connection;
    private final TransmissionCapabilities capabilities;
    private final HeapPipe out;
    private final HeapPipe in;
    private boolean headerIsOut;
    private volatile long front;

    HeapLink(HeapConnection connection, TransmissionCapabilities capabilities, HeapPipe out, HeapPipe in) {
        this.connection = connection;
        this.capabilities = capabilities;
        this.out = out;
        this.in = in;
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        if (connection.isOver()) {
            return LinkStatus.CLOSED;
        }
        headerIsOut = headerIsOut || out.putHeader(header);
        if (headerIsOut) {
            out.put(group);
        }
        boolean complete = headerIsOut && group.isEmpty() && (trailer == 0 || out.putHeader(trailer));
        headerIsOut &= !complete;
        out.isAwaited = !complete;
        connection.wakePeer();
        return complete ? LinkStatus.COMPLETE : LinkStatus.PENDING;
    }

    /** Whether the receiver has something to read. An empty packet that was read and left in front counts. */
    boolean hasWork() {
        return in.hasBytes() || (front != 0 && PacketHeader.payloadBytes(front) == 0);
    }

    @Override
    public long front() {
        if (connection.isClosed()) {
            return LinkStatus.CLOSED;
        }
        boolean ended = in.hasEnded; // read first: packets sent before the end are then visible
        if (front == 0) {
            front = in.takeHeader();
        }
        return front == 0 && ended ? LinkStatus.CLOSED : front;
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        if (connection.isClosed()) {
            return 0;
        }
        try {
            return in.take(group, maxBytes);
        } finally {
            roomMade();
        }
    }

    @Override
    public long skip(long maxBytes) {
        long skipped = connection.isClosed() ? 0 : in.drop(maxBytes);
        roomMade();
        return skipped;
    }

    @Override
    public void release() {
        front = 0;
        roomMade();
    }

    private void roomMade() {
        if (in.isAwaited) {
            connection.wakePeer();
        }
    }
}
