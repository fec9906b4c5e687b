package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Wire;
import io.madeleine.pmm.WaitMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A non-blocking socket of the JDK. Small messages are read through a buffer, so that a stream of them does not take
 * one call each; large ones are read into their block.
 *
 * <p>Threading: confined to caller.
 */
final class NioWire implements Wire {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int SMALL_BYTES = BUFFER_BYTES / 4;

    private final SocketChannel channel;
    private final ByteBuffer ahead = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
    private final ChannelIdling idling;

    private NioWire(SocketChannel channel, WaitMode wait) throws IOException {
        this.channel = channel;
        this.idling = new ChannelIdling(channel, wait);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    static NioWire open(int rank, WaitMode wait, ControlLine line) throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        if (rank == 0) {
            int port = Integer.parseInt(line.exchangeContacts("-"));
            return new NioWire(SocketChannel.open(new InetSocketAddress(loopback, port)), wait);
        }
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(loopback, 0));
            line.exchangeContacts(Integer.toString(server.socket().getLocalPort()));
            return new NioWire(server.accept(), wait);
        }
    }

    @Override
    public void send(Block block, long bytes) {
        ByteBuffer buffer = block.buffer().clear().limit((int) bytes);
        try {
            for (int idle = 0; buffer.hasRemaining(); ) {
                if (channel.write(buffer) == 0) {
                    idling.idle(idle++, SelectionKey.OP_WRITE);
                } else {
                    idle = 0;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void receive(Block block, long bytes) {
        ByteBuffer buffer = block.buffer().clear().limit((int) bytes);
        try {
            if (bytes <= SMALL_BYTES) {
                while (ahead.remaining() < bytes) {
                    ahead.compact();
                    read(ahead);
                    ahead.flip();
                }
                buffer.put(0, ahead, ahead.position(), (int) bytes);
                ahead.position(ahead.position() + (int) bytes);
                return;
            }
            int buffered = (int) Math.min(bytes, ahead.remaining());
            buffer.put(0, ahead, ahead.position(), buffered).position(buffered);
            ahead.position(ahead.position() + buffered);
            while (buffer.hasRemaining()) {
                read(buffer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(ByteBuffer target) throws IOException {
        for (int idle = 0; ; idle++) {
            int count = channel.read(target);
            if (count > 0) {
                return;
            }
            if (count < 0) {
                throw new MeasuringException("the other process has closed the connection");
            }
            idling.idle(idle, SelectionKey.OP_READ);
        }
    }

    @Override
    public void close() {
        try {
            idling.close();
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
