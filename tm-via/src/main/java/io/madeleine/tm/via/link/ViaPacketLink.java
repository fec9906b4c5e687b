package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * The transmission modules {@code via/registered} and {@code via/rdma}: a packet's header goes ahead as a message, its
 * payload follows by the way of the module's two halves.
 *
 * <p>Threading: as {@link DynamicLink} and {@link PostingLink}.
 */
final class ViaPacketLink implements DynamicLink, PostingLink {
    /** The id of the module of medium blocks. */
    static final String REGISTERED = "via/registered";

    private final ViaConnection connection;
    private final TransmissionCapabilities capabilities;
    private final PacketSender sender;
    private final PacketReceiver receiver;

    ViaPacketLink(
            ViaConnection connection,
            TransmissionCapabilities capabilities,
            PacketSender sender,
            PacketReceiver receiver) {
        this.connection = connection;
        this.capabilities = capabilities;
        this.sender = sender;
        this.receiver = receiver;
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return capabilities;
    }

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        return sender.send(header, group, trailer);
    }

    @Override
    public long front() {
        if (connection.isClosed()) {
            return LinkStatus.CLOSED;
        }
        boolean ended = connection.looksEnded(); // read first: packets that arrived before the end are then visible
        long header = receiver.front();
        return header == 0 && ended ? LinkStatus.CLOSED : header;
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        return connection.isClosed() ? 0 : receiver.take(group, maxBytes);
    }

    @Override
    public long skip(long maxBytes) {
        return connection.isClosed() ? 0 : receiver.take(null, maxBytes);
    }

    @Override
    public void release() {
        if (!connection.isClosed()) {
            receiver.release();
        }
    }

    @Override
    public void expect(BufferGroup blocks) {
        if (!connection.isClosed()) {
            receiver.expect(blocks);
        }
    }

    @Override
    public int retract() {
        return receiver.retract();
    }

    @Override
    public boolean holdsMemory() {
        return sender.holdsMemory();
    }
}
