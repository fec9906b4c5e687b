package io.madeleine.testkit;

import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.concurrent.CompletableFuture;

/**
 * A loop adapter's part of a channel.
 *
 * <p>Threading: control path, as {@link ProtocolChannel}.
 */
final class LoopChannel implements ProtocolChannel {
    private final LoopAdapter adapter;
    private final String name;

    LoopChannel(LoopAdapter adapter, String name) {
        this.adapter = adapter;
        this.name = name;
    }

    @Override
    public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
        return adapter.connect(this, name, request);
    }

    @Override
    public void close() {
        adapter.closeAllOf(this);
    }
}
