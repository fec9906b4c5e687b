package io.madeleine.nexus.wan;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who has connected to a {@link Listener} and is not let in yet.
 *
 * <p>Threading: confined to the thread that serves it.
 */
final class Stranger {
    /** What somebody may have said in vain, and is read so that it still gets the answer. */
    private static final int VAIN_BYTES = 4096;

    final SocketChannel channel;
    final Knock knock;
    final long sinceNs = System.nanoTime();
    private final @Nullable SocketAddress place;

    /** Ownership: the channel is the stranger's, until it is a guest. */
    Stranger(SocketChannel channel, Knock knock) {
        this.channel = channel;
        this.knock = knock;
        this.place = channel.socket().getRemoteSocketAddress();
    }

    void register(Selector selector) throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.register(selector, SelectionKey.OP_READ, this);
    }

    /** Reads what has come; false if the stranger has closed its end. */
    boolean hear() throws IOException {
        return channel.read(knock.heard()) >= 0;
    }

    /** Sends a few bytes, which fit into the buffer of any socket that has not been filled. */
    void say(byte[] bytes) throws IOException {
        if (channel.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new IOException("its socket does not take " + bytes.length + " bytes");
        }
    }

    /** The same to somebody who is to go, and may have gone. */
    void hint(byte[] bytes) {
        try {
            if (bytes.length > 0) {
                channel.read(ByteBuffer.allocate(
                        VAIN_BYTES)); // what is unread when a socket is closed takes the answer with it
                say(bytes);
            }
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

    /** Where it is, or was. */
    String name() {
        return String.valueOf(place);
    }
}
