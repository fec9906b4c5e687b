package io.madeleine.tm.tcp.reactor;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.madeleine.pmm.spi.Reactor;
import io.netty.channel.IoEvent;
import io.netty.channel.IoOps;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;

/**
 * A raw file descriptor in Netty's epoll handler.
 *
 * <p>Threading: as {@link Watched} says.
 */
public final class WatchedDescriptor extends Watched implements EpollIoHandle {
    /**
     * The operations for "no interest". Netty cannot change a registration after NONE was submitted; EPOLLET alone
     * reports an error at most once.
     */
    public static final EpollIoOps NOTHING = EpollIoOps.EPOLLET;

    private final FileDescriptor descriptor;

    WatchedDescriptor(LeaderEventLoop loop, int descriptor, int operations, Reactor.ReadyHandler handler) {
        super(loop, operations, handler);
        this.descriptor = new FileDescriptor(descriptor);
    }

    @Override
    boolean isOpen() {
        return true; // cannot be checked for a raw descriptor
    }

    @Override
    IoOps ops(int wanted) {
        return switch (wanted & (OP_READ | OP_WRITE)) {
            case 0 -> NOTHING;
            case OP_READ -> EpollIoOps.EPOLLIN;
            case OP_WRITE -> EpollIoOps.EPOLLOUT;
            default -> EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLOUT);
        };
    }

    @Override
    int ready(IoEvent event) {
        EpollIoOps seen = ((EpollIoEvent) event).ops();
        int ready =
                (seen.contains(EpollIoOps.EPOLLIN) ? OP_READ : 0) | (seen.contains(EpollIoOps.EPOLLOUT) ? OP_WRITE : 0);
        return ready == 0 ? operations() : ready; // an error: report everything
    }

    @Override
    public FileDescriptor fd() {
        return descriptor;
    }

    @Override
    public String toString() {
        return "descriptor " + descriptor.intValue();
    }
}
