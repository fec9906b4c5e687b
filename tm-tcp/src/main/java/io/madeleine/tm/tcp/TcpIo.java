package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.NativeAccess;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.Unix;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The ways to drive sockets. */
enum TcpIo {
    /** The JDK's, without any native library. */
    NIO("the JDK's NIO"),

    /** Linux's epoll, through Netty's native library. */
    EPOLL("Netty's epoll"),

    /** Linux's io_uring, through Netty's native library. */
    IO_URING("Netty's io_uring");

    private final String title;

    TcpIo(String title) {
        this.title = title;
    }

    /** The way in words. */
    String title() {
        return title;
    }

    /** The way as in configuration. */
    String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The Java modules that need native access for this way. */
    List<String> nativeModules() {
        return switch (this) {
            case NIO -> List.of();
            case EPOLL ->
                List.of("io.netty.common", "io.netty.transport.unix.common", "io.netty.transport.classes.epoll");
            case IO_URING ->
                List.of("io.netty.common", "io.netty.transport.unix.common", "io.netty.transport.classes.io_uring");
        };
    }

    /** Why this way cannot be used here, or empty if it can. */
    Optional<String> unavailable() {
        return switch (this) {
            case NIO -> Optional.empty();
            case EPOLL -> unavailable(Epoll.class);
            case IO_URING -> unavailable(IoUring.class);
        };
    }

    private Optional<String> unavailable(Class<?> classes) {
        Optional<String> missing =
                NativeAccess.missing(AttributeKey.class.getModule(), Unix.class.getModule(), classes.getModule());
        if (missing.isPresent()) {
            return missing.map(reason -> reason + ", or set " + TcpConfig.PATH + ".io = nio");
        }
        @Nullable Throwable cause = this == EPOLL ? Epoll.unavailabilityCause() : IoUring.unavailabilityCause();
        if (cause == null) {
            return Optional.empty();
        }
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return Optional.of("Netty says: " + root.getMessage() + "; is netty-transport-native-" + key()
                + " for this platform on the path? " + TcpConfig.PATH + ".io = nio needs nothing");
    }

    /** What the leader sleeps in. */
    IoHandlerFactory handlerFactory() {
        return this == EPOLL ? EpollIoHandler.newFactory() : SelectorIoHandler.factory();
    }

    /**
     * The thread that has the channels, if they are not the leader's. A ring belongs to a thread: the kernel cancels
     * what a thread has submitted when it ends, and threads come and go as leaders.
     */
    Optional<EventLoopGroup> ownThread() {
        return this == IO_URING
                ? Optional.of(new MultiThreadIoEventLoopGroup(
                        1, new DefaultThreadFactory("madeleine-tcp-io_uring", true), IoUringIoHandler.newFactory()))
                : Optional.empty();
    }

    Class<? extends SocketChannel> socketChannel() {
        return switch (this) {
            case NIO -> NioSocketChannel.class;
            case EPOLL -> EpollSocketChannel.class;
            case IO_URING -> IoUringSocketChannel.class;
        };
    }

    /** A socket that listens, whatever goes wrong when it accepts. */
    ServerSocketChannel newServerChannel() {
        return switch (this) {
            case NIO -> new LastingServerChannel();
            case EPOLL -> new EpollServerSocketChannel();
            case IO_URING -> new IoUringServerSocketChannel();
        };
    }

    /** Netty's own would be closed by an Error in accepting, such as that memory has run out for a moment. */
    private static final class LastingServerChannel extends NioServerSocketChannel {
        @Override
        protected boolean closeOnReadError(Throwable cause) {
            return !isActive();
        }
    }
}
