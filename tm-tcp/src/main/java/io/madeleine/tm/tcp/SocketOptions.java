package io.madeleine.tm.tcp;

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
 * What an adapter asks of its sockets.
 *
 * <p>Threading: immutable.
 */
final class SocketOptions {
    /**
     * How much may wait in the kernel to be sent to a process of the same host, where the way has no length to be filled (the
     * kernel takes it twice). Much more, and the system's own tuning goes up to that, waits longer than a write takes: then
     * acknowledgements have the receiver's processor send what the sender's one has just queued behind, both at once, segments
     * overtake each other, and are sent again as lost. See the module's README for what that costs.
     */
    private static final int WITHIN_HOST_BYTES = 256 * 1024;

    private final TcpConfig.SocketConfig socket;
    private final Map<ChannelOption<?>, Object> connected = new LinkedHashMap<>();
    private final int connectMs;

    SocketOptions(TcpConfig config, TcpIo io) {
        this.socket = config.socket();
        this.connectMs = (int) TimeUnit.NANOSECONDS.toMillis(config.handshake().timeoutNs());
        connected.put(ChannelOption.TCP_NODELAY, socket.noDelay());
        connected.put(ChannelOption.ALLOCATOR, new UnpooledByteBufAllocator(false));
        connected.putAll(KeepAlive.of(config.peerTimeoutNs()).options(io));
        if (socket.sendBufferBytes() > 0) {
            connected.put(ChannelOption.SO_SNDBUF, socket.sendBufferBytes());
        }
    }

    /** For those that call. */
    void applyTo(ServerBootstrap bootstrap) {
        bootstrap.option(ChannelOption.SO_REUSEADDR, true).option(ChannelOption.SO_BACKLOG, socket.backlogCount());
        receiveBuffer(bootstrap);
        connected.forEach((option, value) -> bootstrap.childOption(anyOption(option), value));
    }

    /** For a call. */
    void applyTo(Bootstrap bootstrap) {
        bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectMs);
        receiveBuffer(bootstrap);
        connected.forEach((option, value) -> bootstrap.option(anyOption(option), value));
    }

    /** Before the connection is made, for the window that its packets can announce is settled with it. */
    private void receiveBuffer(AbstractBootstrap<?, ?> bootstrap) {
        if (socket.receiveBufferBytes() > 0) {
            bootstrap.option(ChannelOption.SO_RCVBUF, socket.receiveBufferBytes());
        }
    }

    /** For a connection, once it is known where it leads. */
    void settle(Channel channel, boolean withinHost) {
        if (withinHost && socket.sendBufferBytes() == TcpConfig.SocketConfig.AUTO_BYTES) {
            channel.config().setOption(ChannelOption.SO_SNDBUF, WITHIN_HOST_BYTES);
        }
    }

    @SuppressWarnings("unchecked") // each goes with a value of its own type
    private static ChannelOption<Object> anyOption(ChannelOption<?> option) {
        return (ChannelOption<Object>) option;
    }
}
