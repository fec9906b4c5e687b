package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Reactor;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import org.jspecify.annotations.Nullable;

/**
 * A channel of the JDK in Netty's NIO handler: a doorbell, a control connection, an established connection of ours.
 *
 * <p>Threading: thread-safe; the handler is called by the thread that runs the loop. The channel stays its owner's.
 */
final class WatchedChannel implements NioIoHandle, Reactor.Registration {
    private final LeaderEventLoop loop;
    private final SelectableChannel channel;
    private final Reactor.ReadyHandler handler;
    private volatile int operations;
    private volatile boolean cancelled;
    private volatile @Nullable IoRegistration registration;

    WatchedChannel(LeaderEventLoop loop, SelectableChannel channel, int operations, Reactor.ReadyHandler handler) {
        this.loop = loop;
        this.channel = channel;
        this.operations = operations;
        this.handler = handler;
    }

    /** Registers now if the loop is in this thread's hands, or else as soon as it is run. */
    void register() {
        if (loop.inEventLoop()) {
            registerInLoop();
        } else {
            loop.execute(this::registerInLoop);
        }
    }

    private void registerInLoop() {
        if (cancelled || !channel.isOpen()) {
            return;
        }
        try {
            IoRegistration made = loop.registerNow(this);
            registration = made;
            submit(made);
            if (cancelled) {
                made.cancel();
            }
        } catch (Exception e) {
            if (channel.isOpen()) {
                loop.failed(new IllegalStateException("cannot watch " + channel + ": " + e.getMessage(), e));
            }
        }
    }

    @Override
    public void operations(int wanted) {
        operations = wanted;
        IoRegistration made = registration;
        if (made != null) {
            submit(made);
        }
    }

    private void submit(IoRegistration made) {
        try {
            int wanted = operations;
            made.submit(wanted == 0 ? NioIoOps.NONE : NioIoOps.valueOf(wanted)); // which allocates for 0
        } catch (CancelledKeyException _) {
            // closed by its owner meanwhile, who needs no event any more
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        IoRegistration made = registration;
        if (made == null) {
            return;
        }
        if (loop.inEventLoop()) {
            made.cancel();
        } else if (!loop.isShutdown()) {
            operations(0);
            loop.execute(made::cancel);
        }
    }

    @Override
    public void handle(IoRegistration made, IoEvent event) {
        if (cancelled) {
            return;
        }
        try {
            handler.onReady(((NioIoEvent) event).ops().value());
        } catch (RuntimeException | Error e) {
            loop.failed(e);
        }
    }

    @Override
    public SelectableChannel selectableChannel() {
        return channel;
    }

    /** Its owner closes the channel, not the loop. */
    @Override
    public void close() {}
}
