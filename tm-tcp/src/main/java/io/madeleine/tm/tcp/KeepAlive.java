package io.madeleine.tm.tcp;

import io.madeleine.tm.tcp.reactor.IoTransport;
import io.madeleine.tm.tcp.stream.PathWatch;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.uring.IoUringChannelOption;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/**
 * The TCP keep-alive options that detect a silently cut link over an idle connection after {@code
 * madeleine.peer-timeout}. The kernels probe and answer even if their processes are busy or stopped. The kernel does
 * not probe a connection with bytes in flight; see {@link PathWatch} for these. (TCP_USER_TIMEOUT would not help: it
 * also ends a connection whose receiver answers but does not read for that time.)
 *
 * <p>Threading: immutable.
 *
 * @param idleSeconds the idle time before the first probe
 * @param intervalSeconds the time to wait for the answer to a probe
 * @param count the number of probes
 */
public record KeepAlive(int idleSeconds, int intervalSeconds, int count) {
    private static final int MOST_SECONDS = 32_767;
    private static final int QUESTIONS = 4;

    /**
     * Probes after a third of the timeout for the first time, and several times in the rest. Kernels count whole
     * seconds.
     */
    static KeepAlive of(long peerTimeoutNs) {
        int timeout = Math.clamp(TimeUnit.NANOSECONDS.toSeconds(peerTimeoutNs), 2, MOST_SECONDS);
        int idle = Math.max(1, timeout / 3);
        int interval = Math.max(1, (timeout - idle) / QUESTIONS);
        return new KeepAlive(idle, interval, Math.max(1, (timeout - idle) / interval));
    }

    /** The socket options for an I/O transport. */
    Map<ChannelOption<?>, Object> options(IoTransport io) {
        return switch (io) {
            case NIO ->
                options(
                        NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE),
                        NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL),
                        NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT));
            case EPOLL ->
                options(
                        EpollChannelOption.TCP_KEEPIDLE,
                        EpollChannelOption.TCP_KEEPINTVL,
                        EpollChannelOption.TCP_KEEPCNT);
            case IO_URING ->
                options(
                        IoUringChannelOption.TCP_KEEPIDLE,
                        IoUringChannelOption.TCP_KEEPINTVL,
                        IoUringChannelOption.TCP_KEEPCNT);
        };
    }

    private Map<ChannelOption<?>, Object> options(
            ChannelOption<Integer> idle, ChannelOption<Integer> interval, ChannelOption<Integer> often) {
        return Map.of(ChannelOption.SO_KEEPALIVE, true, idle, idleSeconds, interval, intervalSeconds, often, count);
    }
}
