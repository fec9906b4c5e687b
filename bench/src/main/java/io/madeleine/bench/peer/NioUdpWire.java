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
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;

/**
 * A datagram socket of the JDK that any peer may write to: the least that a Java program needs for messages over
 * datagrams. A message is one datagram, a long one several. Nothing is repeated, so the sender keeps to a window that
 * fits the receiver's socket: the receiver sends an empty datagram whenever it has received half of it.
 *
 * <p>Threading: confined to caller.
 */
final class NioUdpWire implements Wire {
    private static final int SOCKET_BYTES = 1 << 20;
    private static final int LONGEST_DATAGRAM = 61_440;

    /** The system's default for a socket is 208 KiB, and it counts its own records. */
    private static final int WINDOW_BYTES = 160 << 10;

    private static final int RECORD_BYTES = 1024;

    private final DatagramChannel channel;
    private final InetSocketAddress peer;
    private final ChannelIdling idling;
    private final ByteBuffer nothing = ByteBuffer.allocateDirect(0);

    /** Bytes that were sent and not acknowledged. */
    private int unacknowledged;

    /** Bytes that were received and not acknowledged. */
    private int owed;

    private NioUdpWire(DatagramChannel channel, InetSocketAddress peer, WaitMode wait) throws IOException {
        this.channel = channel;
        this.peer = peer;
        this.idling = new ChannelIdling(channel, wait);
    }

    static NioUdpWire open(WaitMode wait, ControlLine line) throws IOException {
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET)
                .setOption(StandardSocketOptions.SO_SNDBUF, SOCKET_BYTES)
                .setOption(StandardSocketOptions.SO_RCVBUF, SOCKET_BYTES)
                .bind(new InetSocketAddress(loopback, 0));
        int own = ((InetSocketAddress) channel.getLocalAddress()).getPort();
        int other = Integer.parseInt(line.exchangeContacts(Integer.toString(own)));
        return new NioUdpWire(channel, new InetSocketAddress(loopback, other), wait);
    }

    @Override
    public void send(Block block, long bytes) {
        for (long done = 0; done < bytes; ) {
            int part = (int) Math.min(bytes - done, LONGEST_DATAGRAM);
            while (unacknowledged + part + RECORD_BYTES > WINDOW_BYTES) {
                if (take(nothing) != 0) {
                    throw new MeasuringException("a message came while this process waited for an acknowledgement");
                }
            }
            put(block.buffer().clear().position((int) done).limit((int) done + part));
            unacknowledged += part + RECORD_BYTES;
            done += part;
        }
    }

    @Override
    public void receive(Block block, long bytes) {
        for (long done = 0; done < bytes; ) {
            int part = (int) Math.min(bytes - done, LONGEST_DATAGRAM);
            int count = take(block.buffer().clear().position((int) done).limit((int) done + part));
            if (count == 0) {
                continue;
            }
            if (count != part) {
                throw new MeasuringException("a datagram of " + count + " bytes came, " + part + " were expected");
            }
            done += part;
            for (owed += part + RECORD_BYTES; owed >= WINDOW_BYTES / 2; owed -= WINDOW_BYTES / 2) {
                put(nothing);
            }
        }
    }

    private void put(ByteBuffer data) {
        int bytes = data.remaining();
        try {
            for (int idle = 0; channel.send(data, peer) < bytes; idle++) {
                idling.idle(idle, SelectionKey.OP_WRITE);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Takes a datagram of data; returns its length, or 0 for an acknowledgement, which gives the window back. */
    private int take(ByteBuffer into) {
        int before = into.position();
        try {
            for (int idle = 0; channel.receive(into) == null; idle++) {
                idling.idle(idle, SelectionKey.OP_READ);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int count = into.position() - before;
        if (count == 0) {
            unacknowledged -= WINDOW_BYTES / 2;
        }
        return count;
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
