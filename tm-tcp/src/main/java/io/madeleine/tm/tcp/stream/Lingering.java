package io.madeleine.tm.tcp.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.madeleine.tm.tcp.io.Wire;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Closed connections whose peers may not have read everything yet. If a socket is closed with unread bytes, or bytes
 * arrive after it is closed, the kernel resets the connection and discards what is on its way to the peer. Therefore
 * the output is shut down first, and arriving bytes are dropped until the peer closes, too, or the linger time is
 * over.
 *
 * <p>Threading: {@link #add} is thread-safe; {@link #onReady} runs in the event loop.
 */
public final class Lingering {
    /** A closed connection. */
    interface Closed {
        Wire wire();

        /** Whether a part of what was sent last is still to be written. */
        boolean hasLastToSend();

        /** Sends the rest and shuts the output down; returns whether the peer may still be reading. */
        boolean endOutput();
    }

    private final NettyReactor reactor;
    private final EventLoop loop;
    private final long lingerNs;
    private final Set<Closed> connections = ConcurrentHashMap.newKeySet();
    private final ByteBuffer dropped = ByteBuffer.allocateDirect(16 * 1024);

    public Lingering(NettyReactor reactor, long lingerNs) {
        this.reactor = reactor;
        this.loop = reactor.channels();
        this.lingerNs = lingerNs;
    }

    /** Adds a connection. Ownership: its links are not used any more. */
    void add(Closed connection) {
        connections.add(connection);
        if (loop.inEventLoop()) {
            begin(connection);
            return;
        }
        try {
            loop.execute(() -> begin(connection));
        } catch (RejectedExecutionException _) { // the loop is closed
            end(connection);
        }
    }

    private void begin(Closed connection) {
        loop.schedule(() -> end(connection), lingerNs, TimeUnit.NANOSECONDS);
        onReady(connection);
    }

    /** Continues to send the end-of-stream word and drops the bytes that have arrived. */
    void onReady(Closed connection) {
        if (!connections.contains(connection)) {
            return;
        }
        Wire wire = connection.wire();
        try {
            if (!connection.endOutput()) {
                end(connection);
                return;
            }
            boolean peerHasEnded = hasEnded(wire);
            boolean hasUnsent = wire.hasUnsent();
            if (peerHasEnded && !hasUnsent) {
                end(connection);
                return;
            }
            int read = peerHasEnded ? 0 : OP_READ; // the end of the stream would end each sleep at once
            wire.interest(hasUnsent || connection.hasLastToSend() ? read | OP_WRITE : read);
        } catch (IOException _) {
            end(connection); // reset: the peer does not read what was sent last
        }
    }

    private boolean hasEnded(Wire wire) throws IOException {
        int read;
        do {
            read = wire.read(dropped.clear());
        } while (read > 0);
        return read < 0;
    }

    private void end(Closed connection) {
        if (connections.remove(connection)) {
            connection.wire().close();
        }
    }

    /**
     * Runs the loop until every peer has closed, at most for the linger time in total; then closes the remaining
     * connections.
     */
    public void awaitAll() {
        reactor.await(connections::isEmpty, lingerNs);
        connections.forEach(this::end);
    }
}
