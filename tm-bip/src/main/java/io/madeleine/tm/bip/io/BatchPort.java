package io.madeleine.tm.bip.io;

import io.madeleine.pmm.spi.DatagramEngine;
import io.madeleine.tm.bip.protocol.Datagram;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import org.jspecify.annotations.Nullable;

/**
 * Many datagrams by one system call, on the socket of a {@link NioPort}. Neither sending nor receiving allocates
 * anything once the peers are known.
 *
 * <p>Threading: as {@link DatagramPort}.
 */
public final class BatchPort implements DatagramPort {
    private final NioPort socket;
    private final DatagramEngine.Batches batches;

    /**
     * Takes a socket over, and closes it with itself.
     *
     * @throws IllegalStateException if the engine cannot be used for this socket; the text says why
     */
    public BatchPort(NioPort socket, DatagramEngine engine) {
        this.socket = socket;
        this.batches = engine.open(socket.address());
    }

    @Override
    public int send(Datagram datagram, InetSocketAddress to) {
        return batches.send(datagram.memory(), datagram.length(), to);
    }

    @Override
    public int flush() {
        return batches.flush();
    }

    @Override
    public @Nullable InetSocketAddress receive(Datagram into) {
        try {
            InetSocketAddress from = batches.receive(into.memory());
            if (from != null) {
                into.arrived(batches.receivedBytes());
            }
            return from;
        } catch (UncheckedIOException e) {
            throw new UncheckedIOException("bip cannot read from its socket at " + address(), e.getCause());
        }
    }

    @Override
    public InetSocketAddress address() {
        return socket.address();
    }

    @Override
    public SelectableChannel channel() {
        return socket.channel();
    }

    @Override
    public int receiveBufferBytes() {
        return socket.receiveBufferBytes();
    }

    @Override
    public int sendBufferBytes() {
        return socket.sendBufferBytes();
    }

    @Override
    public void close() {
        batches.close();
        socket.close();
    }
}
