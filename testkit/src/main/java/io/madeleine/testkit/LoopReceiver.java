package io.madeleine.testkit;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * The receiving half of a loop link. It moves bytes out of a pipe and checks its caller: no payload without a packet in
 * front, never more bytes than are left of the packet, no release before its end, and from a symmetric module no group
 * that is smaller than the packet.
 *
 * <p>Threading: one thread at a time for each half; it checks this.
 */
abstract sealed class LoopReceiver permits LoopStaticLink, LoopDynamicLink {
    final LoopConnection connection;
    private final TransmissionCapabilities capabilities;
    private final LoopPipe incoming;
    private long header;
    private long leftBytes;

    LoopReceiver(LoopConnection connection, TransmissionCapabilities capabilities, LoopPipe incoming) {
        this.connection = connection;
        this.capabilities = capabilities;
        this.incoming = incoming;
    }

    public final TransmissionCapabilities capabilities() {
        return capabilities;
    }

    public final long front() {
        connection.receiving().enter();
        try {
            if (connection.isClosed()) {
                return LinkStatus.CLOSED;
            }
            if (header == 0) {
                boolean over = connection.isOverForReceiver(); // read first: packets before the end are then visible
                header = incoming.front();
                if (header == 0) {
                    return over && !incoming.hasWork() && !incoming.hidesSomething() ? LinkStatus.CLOSED : 0;
                }
                leftBytes = PacketHeader.payloadBytes(header);
                connection.roomMade(incoming);
            }
            return header;
        } finally {
            connection.receiving().leave();
        }
    }

    public final long receive(BufferGroup group, long maxBytes) {
        connection.receiving().enter();
        try {
            if (connection.isClosed()) {
                return 0;
            }
            checkPart("receive", maxBytes);
            if (maxBytes > group.remainingBytes()) {
                throw violation(
                        "receive of " + maxBytes + " bytes into a group with room for " + group.remainingBytes());
            }
            if (capabilities.aggregation() == AggregationMode.SYMMETRIC
                    && leftBytes == PacketHeader.payloadBytes(header)
                    && maxBytes < leftBytes) {
                throw violation("a packet of a symmetric module must be received whole: it has " + leftBytes
                        + " bytes, but receive asks for " + maxBytes);
            }
            long before = group.remainingBytes();
            try {
                return incoming.receive(group, maxBytes);
            } finally {
                leftBytes -= before - group.remainingBytes();
                connection.roomMade(incoming);
            }
        } finally {
            connection.receiving().leave();
        }
    }

    public final long skip(long maxBytes) {
        connection.receiving().enter();
        try {
            if (connection.isClosed()) {
                return 0;
            }
            checkPart("skip", maxBytes);
            long bytes = incoming.skip(maxBytes);
            leftBytes -= bytes;
            connection.roomMade(incoming);
            return bytes;
        } finally {
            connection.receiving().leave();
        }
    }

    private void checkPart(String call, long maxBytes) {
        if (header == 0) {
            throw violation(call + " without a packet in front");
        }
        if (maxBytes < 1 || maxBytes > leftBytes) {
            throw violation(call + " of " + maxBytes + " bytes where " + leftBytes + " are left of "
                    + PacketHeader.describe(header));
        }
    }

    public final void release() {
        connection.receiving().enter();
        try {
            if (connection.isClosed()) {
                return;
            }
            if (header == 0 || leftBytes != 0) {
                throw violation("release "
                        + (header == 0
                                ? "without a packet in front"
                                : "with " + leftBytes + " bytes left of " + PacketHeader.describe(header)));
            }
            header = 0;
            incoming.release();
            connection.roomMade(incoming);
        } finally {
            connection.receiving().leave();
        }
    }

    final ContractViolation violation(String what) {
        return connection.violation(capabilities.id() + ": " + what);
    }
}
