package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import org.jspecify.annotations.Nullable;

/**
 * A loop link that sends the user's blocks.
 *
 * <p>Threading: as {@link LoopReceiver}.
 */
sealed class LoopDynamicLink extends LoopReceiver implements DynamicLink permits LoopPostingLink {
    private final LoopDynamicPipe outgoing;
    private final long acceptBytes;
    private boolean underWay;
    private boolean headerIsOut;
    private long header;
    private long trailer;
    private long leftBytes;
    private @Nullable BufferGroup group;

    LoopDynamicLink(
            LoopConnection connection,
            TransmissionCapabilities capabilities,
            LoopDynamicPipe out,
            LoopPipe in,
            long acceptBytes) {
        super(connection, capabilities, in);
        this.outgoing = out;
        this.acceptBytes = acceptBytes;
    }

    @Override
    public final int send(long packetHeader, BufferGroup payload, long packetTrailer) {
        connection.sending().enter();
        try {
            if (connection.isOverForSender()) {
                return LinkStatus.CLOSED;
            }
            if (underWay) {
                checkRepeated(packetHeader, payload, packetTrailer);
            } else {
                checkFirst(packetHeader, payload, packetTrailer);
                underWay = true;
                headerIsOut = false;
                header = packetHeader;
                group = payload;
            }
            trailer = packetTrailer;
            leftBytes = payload.remainingBytes();
            boolean done = move(payload);
            underWay = !done;
            outgoing.starving = !done;
            return done ? LinkStatus.COMPLETE : LinkStatus.PENDING;
        } finally {
            connection.sending().leave();
        }
    }

    private boolean move(BufferGroup payload) {
        if (!headerIsOut && !outgoing.putHeader(header)) {
            return false;
        }
        headerIsOut = true;
        try {
            if (!payload.isEmpty()) {
                outgoing.putPayload(payload, acceptBytes);
            }
        } finally {
            leftBytes = payload.remainingBytes();
            connection.sent();
        }
        boolean done = payload.isEmpty() && (trailer == 0 || outgoing.putHeader(trailer));
        if (done) {
            connection.sent();
        }
        return done;
    }

    private void checkFirst(long packetHeader, BufferGroup payload, long packetTrailer) {
        connection.checkHeader(this, packetHeader);
        if (PacketHeader.payloadBytes(packetHeader) != payload.remainingBytes()) {
            throw violation("send of a group of " + payload.remainingBytes() + " bytes as "
                    + PacketHeader.describe(packetHeader));
        }
        checkTrailer(packetTrailer);
    }

    private void checkRepeated(long packetHeader, BufferGroup payload, long packetTrailer) {
        if (packetHeader != header) {
            throw violation("send of " + PacketHeader.describe(packetHeader) + " while another packet is pending: "
                    + PacketHeader.describe(header));
        }
        if (payload != group || payload.remainingBytes() != leftBytes) {
            throw violation("send repeated with another group, of " + payload.remainingBytes() + " bytes where "
                    + leftBytes + " are left");
        }
        if (packetTrailer != trailer && (leftBytes == 0 || packetTrailer == 0 || trailer == 0)) {
            throw violation("send repeated with another trailer after the group's end");
        }
        checkTrailer(packetTrailer);
    }

    private void checkTrailer(long packetTrailer) {
        if (packetTrailer != 0) {
            connection.checkHeader(this, packetTrailer);
            if (PacketHeader.payloadBytes(packetTrailer) != 0) {
                throw violation("a trailer with payload: " + PacketHeader.describe(packetTrailer));
            }
        }
    }
}
