package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * The transmission module {@code via/rdma}: large blocks, written into memory of the receiver.
 *
 * <p>Threading: as {@link DynamicLink} and {@link PostingLink}.
 */
final class ViaRdmaLink implements DynamicLink, PostingLink {
    /** The id of the module. */
    static final String ID = "via/rdma";

    private final ViaConnection connection;
    private final TransmissionCapabilities capabilities;
    private final RdmaSender sender;
    private final RdmaReceiver receiver;

    ViaRdmaLink(
            ViaConnection connection, TransmissionCapabilities capabilities, RdmaSender sender, RdmaReceiver receiver) {
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
        boolean ended = connection.hasEnded(); // read first: packets that arrived before the end are then visible
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
