package io.madeleine.tm.tcp;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An adapter's part of a channel: a TCP connection to each peer.
 *
 * <p>Threading: thread-safe; what is under way is in the event loop's hands.
 */
final class TcpChannel implements ProtocolChannel {
    private final TcpAdapter adapter;
    private final String name;
    private final Set<Call> calls = ConcurrentHashMap.newKeySet();
    private final Set<TcpConnection> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    TcpChannel(TcpAdapter adapter, String name) {
        this.adapter = adapter;
        this.name = name;
    }

    String name() {
        return name;
    }

    @Override
    public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
        CompletableFuture<ProtocolConnection> future = new CompletableFuture<>();
        if (closed) {
            future.completeExceptionally(new SessionException("tcp: channel \"" + name + "\" is closed"));
        } else if (request.initiator()) {
            call(request, future);
        } else {
            Lobby.Wish wish = new Lobby.Wish(this, request, future);
            adapter.loop().execute(() -> adapter.lobby().want(wish));
        }
        return future;
    }

    private void call(ConnectionRequest request, CompletableFuture<ProtocolConnection> future) {
        TcpAddress address;
        try {
            address = TcpAddress.parse(request.peerAddress());
        } catch (IllegalArgumentException e) {
            future.completeExceptionally(
                    new SessionException("tcp: process " + request.peer() + " cannot be called: " + e.getMessage(), e));
            return;
        }
        Call call = new Call(adapter, this, request, future);
        calls.add(call);
        // the name service may take its time, and neither caller nor leader can
        Thread.ofVirtual().name("madeleine-tcp-resolve").start(() -> {
            List<InetSocketAddress> places = address.resolve();
            adapter.inLoop(() -> call.begin(places));
        });
    }

    void callEnded(Call call) {
        calls.remove(call);
    }

    /** Takes a connection that has been made; returns whether it is welcome. */
    boolean made(TcpConnection connection) {
        connections.add(connection);
        return !closed;
    }

    @Override
    public void close() {
        closed = true;
        for (Call call : calls) {
            adapter.inLoop(() -> call.giveUp("the channel was closed"));
        }
        adapter.inLoop(() -> adapter.lobby().giveUp(this));
        connections.forEach(TcpConnection::close);
        connections.clear();
        adapter.channelClosed(this);
    }
}
