package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.ProtocolConnection;

/** What tests want to know of the buffers of a connection. */
public final class Chunks {
    private Chunks() {}

    /** How many chunks this end has made to copy what it sends through via/rdma: 0 if it has copied nothing. */
    public static int ofSender(ProtocolConnection connection) {
        RdmaSender sender = ((ViaConnection) connection).sender();
        return sender == null ? 0 : sender.chunkCount();
    }
}
