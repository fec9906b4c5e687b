package io.madeleine.tm.tcp;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Closed connections whose peers may not have taken all yet. Closing a socket with unread bytes, or one that more bytes
 * come to, makes the kernel reset the connection, and that destroys what is on its way to the peer: so the output is shut
 * down, and what comes is dropped until the peer closes, too, or the time is over.
 *
 * <p>Threading: {@link #add} is thread-safe; events come in the event loop.
 */
final class Lingering {
    private final NettyReactor reactor;
    private final EventLoop loop;
    private final long lingerNs;
    private final Set<TcpConnection> connections = ConcurrentHashMap.newKeySet();
    private final ByteBuffer dropped = ByteBuffer.allocateDirect(16 * 1024);

    Lingering(NettyReactor reactor, long lingerNs) {
        this.reactor = reactor;
        this.loop = reactor.channels();
        this.lingerNs = lingerNs;
    }

    /** Takes a connection whose links are not used any more. */
    void add(TcpConnection connection) {
        connections.add(connection);
        if (loop.inEventLoop()) {
            begin(connection);
        } else if (loop.isShutdown()) {
            end(connection);
        } else {
            loop.execute(() -> begin(connection));
        }
    }

    private void begin(TcpConnection connection) {
        loop.schedule(() -> end(connection), lingerNs, TimeUnit.NANOSECONDS);
        onReady(connection);
    }

    /** Goes on with the farewell and drops what has come. */
    void onReady(TcpConnection connection) {
        if (!connections.contains(connection)) {
            return;
        }
        Wire wire = connection.wire();
        try {
            if (!connection.endOutput() || (hasEnded(wire) && !wire.hasUnsent())) {
                end(connection);
            } else {
                wire.interest(connection.hasLastToSend() ? OP_READ | OP_WRITE : OP_READ);
            }
        } catch (IOException _) {
            end(connection); // reset: nobody is there to read what was sent last
        }
    }

    private boolean hasEnded(Wire wire) throws IOException {
        int read;
        do {
            read = wire.read(dropped.clear());
        } while (read > 0);
        return read < 0;
    }

    private void end(TcpConnection connection) {
        if (connections.remove(connection)) {
            connection.wire().close();
        }
    }

    /** Runs the loop until every peer has closed, or for as long as lingering lasts in total; then closes the rest. */
    void awaitAll() {
        reactor.await(connections::isEmpty, lingerNs);
        connections.forEach(this::end);
    }
}
