package io.madeleine.tm.tcp.io;

import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The JDK socket channel itself. Netty made the connection; from then on only the selector of its loop is used. Direct
 * reads and writes save the select call and the buffers of the pipeline.
 *
 * <p>The JDK keeps a memory segment alive while it reads or writes it, so user memory is safe.
 *
 * <p>Threading: as {@link Wire} says.
 */
public final class NioWire implements Wire {
    private final SocketChannel channel;
    private Reactor.@Nullable Registration registration;

    private final NettyReactor reactor;

    public NioWire(SocketChannel channel, NettyReactor reactor) {
        this.channel = channel;
        this.reactor = reactor;
    }

    @Override
    public void register(Reactor.ReadyHandler handler) {
        registration = reactor.register(channel, 0, handler);
    }

    @Override
    public boolean reachesUserMemory() {
        return true;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        return channel.read(target);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        return channel.write(source);
    }

    @Override
    public void interest(int operations) {
        Objects.requireNonNull(registration, "registered first").operations(operations);
    }

    @Override
    public void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // nothing is left that could be lost
        }
    }
}
