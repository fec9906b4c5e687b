package io.madeleine.tm.via;

import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * An adapter's part of a channel.
 *
 * <p>Threading: as {@link ProtocolChannel}.
 */
final class ViaChannel implements ProtocolChannel {
    private final ViaAdapter adapter;
    private final String name;

    ViaChannel(ViaAdapter adapter, String name) {
        this.adapter = adapter;
        this.name = name;
    }

    @Override
    public Optional<String> reserve(ConnectionRequest request) {
        return adapter.lacks();
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
