package io.madeleine.tm.tcp;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

/**
 * An adapter's part of a channel: one TCP connection to each peer.
 *
 * <p>Threading: thread-safe; pending connections are confined to the event loop.
 */
final class TcpChannel implements ProtocolChannel {
    private final TcpAdapter adapter;
    private final String name;
    private final Set<ProtocolConnection> connections = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    TcpChannel(TcpAdapter adapter, String name) {
        this.adapter = adapter;
        this.name = name;
    }

    @Override
    public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
        if (closed) {
            return CompletableFuture.failedFuture(new SessionException("tcp: channel \"" + name + "\" is closed"));
        }
        PendingConnection wanted = adapter.connections().prepare(name, request);
        wanted.future().thenAccept(this::made);
        if (request.initiator()) {
            call(wanted);
        } else {
            inLoop(wanted, () -> request(wanted));
        }
        return wanted.future();
    }

    private void call(PendingConnection wanted) {
        ConnectionAttempt attempt = new ConnectionAttempt(adapter, wanted);
        wanted.future().whenComplete((_, failure) -> {
            if (failure != null) {
                adapter.inLoop(attempt::giveUp);
            }
        });
        inLoop(wanted, () -> {
            request(wanted);
            try {
                resolve(InternetAddress.parse(wanted.request().peerAddress(), "tcp"), attempt);
            } catch (IllegalArgumentException e) {
                boolean _ = wanted.fail("cannot connect to it: " + e.getMessage(), e);
            }
        });
    }

    /** Runs a task later in the loop. Fails the request if the adapter closes at the same time. */
    private void inLoop(PendingConnection wanted, Runnable task) {
        try {
            adapter.loop().execute(task);
        } catch (RejectedExecutionException e) {
            wanted.future().completeExceptionally(new SessionException("tcp: the adapter is closed", e));
        }
    }

    private void request(PendingConnection wanted) {
        adapter.request(wanted);
        if (closed) { // after this request was made, and before the adapter knew of it
            boolean _ = wanted.fail("the channel was closed");
        }
    }

    /** Resolves in a thread of its own: the name service may block, which neither caller nor leader can afford. */
    private void resolve(InternetAddress address, ConnectionAttempt attempt) {
        Thread.ofVirtual().name("madeleine-tcp-resolve").start(() -> {
            List<InetSocketAddress> places = address.resolve();
            adapter.inLoop(() -> attempt.begin(places, address.hint(adapter.bindKey())));
        });
    }

    private void made(ProtocolConnection connection) {
        connections.add(connection);
        if (closed) {
            connection.close();
        }
    }

    @Override
    public void close() {
        closed = true;
        adapter.inLoop(() -> adapter.connections().closeChannel(name));
        connections.forEach(ProtocolConnection::close);
        connections.clear();
        adapter.channelClosed(this);
    }
}
