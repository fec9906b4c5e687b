package io.madeleine.tm.tcp;

import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.reactor.IoTransport;
import io.netty.bootstrap.AbstractBootstrap;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The socket options of an adapter.
 *
 * <p>Threading: immutable.
 */
final class SocketOptions {
    /**
     * The send buffer towards a process of the same host, where no bandwidth-delay product has to be filled (the
     * kernel doubles the value). The system's own tuning goes far beyond it. Then bytes wait longer than a write
     * takes: the processor that handles the receiver's acknowledgements transmits queued segments while the sender's
     * processor transmits newer ones, segments overtake each other, and the sender retransmits them as lost. See
     * docs/performance/tm-tcp.md for the cost.
     */
    private static final int WITHIN_HOST_SEND_BYTES = 256 * 1024;

    /**
     * The receive buffer towards a process of the same host (the kernel doubles what net.core.rmem_max permits of it).
     * It keeps the receive window above two segments of the loopback, which have 64 KiB. With the system's own tuning
     * the window may become smaller than one segment. Then a sender waits for its persist timer, which each segment
     * from the peer starts anew: while the other way is busy, nothing is sent. See docs/performance/tm-tcp.md.
     */
    private static final int WITHIN_HOST_RECEIVE_BYTES = 1024 * 1024;

    private final TcpConfig.SocketConfig socket;
    private final Map<ChannelOption<?>, Object> connected = new LinkedHashMap<>();
    private final int connectMs;

    SocketOptions(TcpConfig config, IoTransport io) {
        this.socket = config.socket();
        this.connectMs = (int) TimeUnit.NANOSECONDS.toMillis(config.handshake().timeoutNs());
        connected.put(ChannelOption.TCP_NODELAY, socket.noDelay());
        connected.put(ChannelOption.ALLOCATOR, new UnpooledByteBufAllocator(false));
        connected.putAll(KeepAlive.of(config.peerTimeoutNs()).options(io));
        if (socket.sendBufferBytes() > 0) {
            connected.put(ChannelOption.SO_SNDBUF, socket.sendBufferBytes());
        }
    }

    /** Sets the options of the listening socket and of the connections that it accepts. */
    void applyTo(ServerBootstrap bootstrap) {
        bootstrap.option(ChannelOption.SO_REUSEADDR, true).option(ChannelOption.SO_BACKLOG, socket.backlogCount());
        receiveBuffer(bootstrap);
        connected.forEach((option, value) -> bootstrap.childOption(anyOption(option), value));
    }

    /** Sets the options of a connection that this process initiates. */
    void applyTo(Bootstrap bootstrap) {
        bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectMs);
        receiveBuffer(bootstrap);
        connected.forEach((option, value) -> bootstrap.option(anyOption(option), value));
    }

    /** Sets the receive buffer before the connection is made, because the TCP handshake fixes the window scale. */
    private void receiveBuffer(AbstractBootstrap<?, ?> bootstrap) {
        if (socket.receiveBufferBytes() > 0) {
            bootstrap.option(ChannelOption.SO_RCVBUF, socket.receiveBufferBytes());
        }
    }

    /** Sets the options that depend on the location of the peer, for an established connection. */
    void settle(Channel channel, boolean withinHost) {
        if (withinHost && socket.sendBufferBytes() == TcpConfig.SocketConfig.AUTO_BYTES) {
            channel.config().setOption(ChannelOption.SO_SNDBUF, WITHIN_HOST_SEND_BYTES);
        }
        if (withinHost && socket.receiveBufferBytes() == TcpConfig.SocketConfig.AUTO_BYTES) {
            channel.config().setOption(ChannelOption.SO_RCVBUF, WITHIN_HOST_RECEIVE_BYTES);
        }
    }

    @SuppressWarnings("unchecked") // each option comes with a value of its own type
    private static ChannelOption<Object> anyOption(ChannelOption<?> option) {
        return (ChannelOption<Object>) option;
    }
}
