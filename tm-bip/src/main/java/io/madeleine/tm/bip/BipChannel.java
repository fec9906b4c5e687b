package io.madeleine.tm.bip;

import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.concurrent.CompletableFuture;

/**
 * An adapter's part of a channel.
 *
 * <p>Threading: as {@link ProtocolChannel}.
 */
final class BipChannel implements ProtocolChannel {
    private final BipAdapter adapter;
    private final String name;

    BipChannel(BipAdapter adapter, String name) {
        this.adapter = adapter;
        this.name = name;
    }

    @Override
    public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
        return adapter.connect(name, request);
    }

    @Override
    public void close() {
        adapter.closeChannel(name);
    }
}
