package io.madeleine.session;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Somebody who has connected and not proved yet to know the secret.
 *
 * <p>Threading: confined to the {@link BootstrapAcceptor}'s thread.
 */
final class Stranger {
    final SocketChannel channel;
    final ControlHandshake handshake;
    final long sinceNs = System.nanoTime();

    /** Ownership: the channel is the stranger's, until it is a member. */
    Stranger(SocketChannel channel, ControlHandshake handshake) {
        this.channel = channel;
        this.handshake = handshake;
    }

    void register(Selector selector) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.register(selector, SelectionKey.OP_READ, this);
    }

    /** Reads what has come; false if the stranger has closed its end. */
    boolean hear() throws IOException {
        return channel.read(handshake.heard()) >= 0;
    }

    /** Sends a few bytes, which fit into the buffer of any socket that has not been filled. */
    void say(byte[] bytes) throws IOException {
        if (channel.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new IOException("its socket does not take " + bytes.length + " bytes");
        }
    }

    /** The same to somebody who may have gone. */
    void hint(byte[] bytes) {
        try {
            say(bytes);
        } catch (IOException _) {
            // it does not listen
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    String name() {
        try {
            return String.valueOf(channel.getRemoteAddress());
        } catch (IOException _) {
            return "somebody"; // gone already
        }
    }
}
