package io.madeleine.tm.tcp;

import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.uring.IoUringChannelOption;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/**
 * How the kernel asks the peer's for a sign of life over a connection that is idle, so that a link that is cut in silence is found
 * after {@code madeleine.peer-timeout}. It is the kernels that ask and answer, whatever their processes do, and on a connection
 * where bytes are under way they ask nothing: see {@link PathWatch}. (TCP_USER_TIMEOUT would be no help: it ends connections whose receiver does
 * not take what is sent for so long, though it answers.)
 *
 * <p>Threading: immutable.
 *
 * @param idleSeconds after how long without anything it asks for the first time
 * @param intervalSeconds how long it waits for each answer
 * @param count how often it asks
 */
record KeepAlive(int idleSeconds, int intervalSeconds, int count) {
    private static final int MOST_SECONDS = 32_767;
    private static final int QUESTIONS = 4;

    /** Asks after a third of the time, and several times in the rest; to the second, which is as fine as kernels do it. */
    static KeepAlive of(long peerTimeoutNs) {
        int timeout = Math.clamp(TimeUnit.NANOSECONDS.toSeconds(peerTimeoutNs), 2, MOST_SECONDS);
        int idle = Math.max(1, timeout / 3);
        int interval = Math.max(1, (timeout - idle) / QUESTIONS);
        return new KeepAlive(idle, interval, Math.max(1, (timeout - idle) / interval));
    }

    /** Options of sockets that are driven that way. */
    Map<ChannelOption<?>, Object> options(TcpIo io) {
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
