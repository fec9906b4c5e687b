package io.madeleine.tm.tcp.reactor;

import io.madeleine.pmm.spi.Reactor;
import io.netty.channel.IoEvent;
import io.netty.channel.IoOps;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import java.nio.channels.SelectableChannel;

/**
 * A JDK channel in Netty's NIO handler: a doorbell, a control connection, or an established connection of tcp.
 *
 * <p>Threading: as {@link Watched} says.
 */
final class WatchedChannel extends Watched implements NioIoHandle {
    private final SelectableChannel channel;

    WatchedChannel(LeaderEventLoop loop, SelectableChannel channel, int operations, Reactor.ReadyHandler handler) {
        super(loop, operations, handler);
        this.channel = channel;
    }

    @Override
    boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    IoOps ops(int wanted) {
        return wanted == 0 ? NioIoOps.NONE : NioIoOps.valueOf(wanted); // valueOf(0) allocates
    }

    @Override
    int ready(IoEvent event) {
        return ((NioIoEvent) event).ops().value();
    }

    @Override
    public SelectableChannel selectableChannel() {
        return channel;
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
