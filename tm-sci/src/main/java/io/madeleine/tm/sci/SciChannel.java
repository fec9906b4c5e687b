package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.tm.sci.link.SciConnection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The connections of one channel.
 *
 * <p>Threading: control path, serialised by the session.
 */
final class SciChannel implements ProtocolChannel {
    private final SciAdapter adapter;
    private final String name;
    private final long hash;
    private final List<SciConnection> connections = new CopyOnWriteArrayList<>();

    SciChannel(SciAdapter adapter, String name, long hash) {
        this.adapter = adapter;
        this.name = name;
        this.hash = hash;
    }

    String name() {
        return name;
    }

    /** The channel's name in file names: a hash. */
    long hash() {
        return hash;
    }

    void add(SciConnection connection) {
        connections.add(connection);
    }

    void remove(SciConnection connection) {
        connections.remove(connection);
    }

    @Override
    public Optional<String> reserve(ConnectionRequest request) {
        return request.initiator() ? adapter.reserve(this, request) : Optional.empty();
    }

    @Override
    public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
        return adapter.connect(this, request);
    }

    @Override
    public void close() {
        adapter.close(this);
        connections.forEach(SciConnection::close);
    }
}
