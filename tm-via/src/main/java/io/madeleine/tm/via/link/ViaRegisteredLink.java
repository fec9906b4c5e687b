package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * The transmission module {@code via/registered}: medium blocks, gathered in messages straight from the session's
 * memory.
 *
 * <p>Threading: as {@link DynamicLink} and {@link PostingLink}.
 */
final class ViaRegisteredLink implements DynamicLink, PostingLink {
    /** The id of the module. */
    static final String ID = "via/registered";

    private final ViaConnection connection;
    private final TransmissionCapabilities capabilities;
    private final RegisteredSender sender;
    private final RegisteredReceiver receiver;

    ViaRegisteredLink(
            ViaConnection connection,
            TransmissionCapabilities capabilities,
            RegisteredSender sender,
            RegisteredReceiver receiver) {
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
