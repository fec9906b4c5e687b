package io.madeleine.admission;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose peer has not yet proved that it knows the secret, or has just done so.
 *
 * <p>Threading: confined to the {@link Acceptor}'s thread; once proven, to its host.
 *
 * @param <H> the type of its handshake
 */
public final class UnauthenticatedConnection<H extends ServerHandshake> {
    /** How much unread input is read before the last answer, so that the answer still reaches the peer. */
    private static final int VAIN_BYTES = 4096;

    private final SocketChannel channel;
    private final H handshake;
    private final long sinceNs = System.nanoTime();
    private final @Nullable SocketAddress remote;

    /** Ownership: the channel belongs to the connection until the host takes it. */
    UnauthenticatedConnection(SocketChannel channel, H handshake) {
        this.channel = channel;
        this.handshake = handshake;
        this.remote = channel.socket().getRemoteSocketAddress();
    }

    /** The channel; it is in blocking mode once the connection is proven. */
    public SocketChannel channel() {
        return channel;
    }

    /** The state of the handshake. */
    public H handshake() {
        return handshake;
    }

    /** When the connection was accepted, in {@link System#nanoTime()} terms. */
    public long sinceNs() {
        return sinceNs;
    }

    /** The peer's address. */
    public String remote() {
        return String.valueOf(remote);
    }

    /** Closes the connection. Idempotent. */
    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    void register(Selector selector) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.register(selector, SelectionKey.OP_READ, this);
    }

    void deregister(Selector selector) {
        SelectionKey registered = channel.keyFor(selector);
        if (registered != null) {
            registered.cancel();
        }
    }

    /** Reads what has arrived; returns false if the peer has closed. */
    boolean read() throws IOException {
        return channel.read(handshake.received()) >= 0;
    }

    /** Sends a few bytes, which fit in the send buffer of a new socket. */
    void write(byte[] bytes) throws IOException {
        if (channel.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new IOException("the socket's send buffer does not take " + bytes.length + " bytes");
        }
    }

    /** Sends a few bytes to a peer that is about to be refused; ignores errors. */
    void writeFarewell(byte[] bytes) {
        try {
            if (bytes.length > 0) {
                // closing a socket with unread input resets the connection, and the peer may lose the answer
                channel.read(ByteBuffer.allocate(VAIN_BYTES));
                write(bytes);
            }
        } catch (IOException _) {
            // the peer does not listen
        }
    }
}
