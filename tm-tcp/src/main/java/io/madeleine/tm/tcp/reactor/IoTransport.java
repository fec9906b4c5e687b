package io.madeleine.tm.tcp.reactor;

import io.madeleine.pmm.spi.NativeAccess;
import io.madeleine.tm.tcp.config.TcpConfig;
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

/**
 * The I/O transports.
 *
 * <p>Threading: immutable.
 */
public enum IoTransport {
    /** The JDK's NIO; needs no native library. */
    NIO("the JDK's NIO"),

    /** Linux's epoll, through Netty's native library. */
    EPOLL("Netty's epoll"),

    /** Linux's io_uring, through Netty's native library. */
    IO_URING("Netty's io_uring");

    private final String title;

    IoTransport(String title) {
        this.title = title;
    }

    /** The name in messages for users. */
    public String title() {
        return title;
    }

    /** The name in configuration. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The Java modules that need native access for this transport. */
    public List<String> nativeModules() {
        return switch (this) {
            case NIO -> List.of();
            case EPOLL ->
                List.of("io.netty.common", "io.netty.transport.unix.common", "io.netty.transport.classes.epoll");
            case IO_URING ->
                List.of("io.netty.common", "io.netty.transport.unix.common", "io.netty.transport.classes.io_uring");
        };
    }

    /** The reason why this transport cannot be used here, or empty if it can. */
    public Optional<String> unavailable() {
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
        return Optional.of("Netty cannot load it: " + root.getMessage() + "; is netty-transport-native-" + key()
                + " for this platform on the path? " + TcpConfig.PATH + ".io = nio needs no native library");
    }

    /** The I/O handler in which the leader sleeps. */
    IoHandlerFactory handlerFactory() {
        return this == EPOLL ? EpollIoHandler.newFactory() : SelectorIoHandler.factory();
    }

    /**
     * The thread that runs the channels if the leader cannot: the kernel cancels the submissions of a thread when it
     * ends, so a ring needs one thread for life, but the leaders change.
     */
    Optional<EventLoopGroup> ownThread() {
        return this == IO_URING
                ? Optional.of(new MultiThreadIoEventLoopGroup(
                        1, new DefaultThreadFactory("madeleine-tcp-io_uring", true), IoUringIoHandler.newFactory()))
                : Optional.empty();
    }

    public Class<? extends SocketChannel> socketChannel() {
        return switch (this) {
            case NIO -> NioSocketChannel.class;
            case EPOLL -> EpollSocketChannel.class;
            case IO_URING -> IoUringSocketChannel.class;
        };
    }

    /** Creates a listening socket that survives failures of accept. */
    public ServerSocketChannel newServerChannel() {
        return switch (this) {
            case NIO -> new LastingServerChannel();
            case EPOLL -> new EpollServerSocketChannel();
            case IO_URING -> new IoUringServerSocketChannel();
        };
    }

    /**
     * A listening socket that an Error in accept does not close, for example an OutOfMemoryError, unlike Netty's own.
     */
    private static final class LastingServerChannel extends NioServerSocketChannel {
        @Override
        protected boolean closeOnReadError(Throwable cause) {
            return !isActive();
        }
    }
}
