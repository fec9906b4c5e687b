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
 * A connection whose other end has not proved yet to know the secret, or has done so just now.
 *
 * <p>Threading: confined to the {@link Acceptor}'s thread, and to its host once it is proven.
 *
 * @param <H> its handshake
 */
public final class UnauthenticatedConnection<H extends ServerHandshake> {
    /** What somebody may have said in vain, and is read so that it still gets the answer. */
    private static final int VAIN_BYTES = 4096;

    private final SocketChannel channel;
    private final H handshake;
    private final long sinceNs = System.nanoTime();
    private final @Nullable SocketAddress remote;

    /** Ownership: the channel is the connection's, until it is its host's. */
    UnauthenticatedConnection(SocketChannel channel, H handshake) {
        this.channel = channel;
        this.handshake = handshake;
        this.remote = channel.socket().getRemoteSocketAddress();
    }

    /** The channel; once the connection is proven it blocks. */
    public SocketChannel channel() {
        return channel;
    }

    /** What has been said. */
    public H handshake() {
        return handshake;
    }

    /** When it was accepted, in {@link System#nanoTime()} terms. */
    public long sinceNs() {
        return sinceNs;
    }

    /** Where its other end is, or was. */
    public String remote() {
        return String.valueOf(remote);
    }

    /** Closes it. Idempotent. */
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

    /** Reads what has come; false if the other end is closed. */
    boolean read() throws IOException {
        return channel.read(handshake.received()) >= 0;
    }

    /** Sends a few bytes, which fit into the buffer of any socket that has not been filled. */
    void write(byte[] bytes) throws IOException {
        if (channel.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new IOException("its socket does not take " + bytes.length + " bytes");
        }
    }

    /** The same to somebody who is to go, and may have gone. */
    void writeFarewell(byte[] bytes) {
        try {
            if (bytes.length > 0) {
                channel.read(ByteBuffer.allocate(
                        VAIN_BYTES)); // what is unread when a socket is closed takes the answer with it
                write(bytes);
            }
        } catch (IOException _) {
            // it does not listen
        }
    }
}
