package io.madeleine.tm.tcp.reactor;

import io.madeleine.pmm.spi.Reactor;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import java.nio.channels.CancelledKeyException;
import org.jspecify.annotations.Nullable;

/**
 * A handle in Netty's I/O handler that is not a Netty channel.
 *
 * <p>Threading: thread-safe; the thread that runs the loop calls the handler. Ownership: the owner closes the channel
 * or descriptor, not the loop.
 */
abstract class Watched implements IoHandle, Reactor.Registration {
    private final LeaderEventLoop loop;
    private final Reactor.ReadyHandler handler;
    private volatile int operations;
    private volatile boolean cancelled;
    private volatile @Nullable IoRegistration registration;

    Watched(LeaderEventLoop loop, int operations, Reactor.ReadyHandler handler) {
        this.loop = loop;
        this.operations = operations;
        this.handler = handler;
    }

    /** Whether the handle can still be watched. */
    abstract boolean isOpen();

    /** Converts operations of {@link java.nio.channels.SelectionKey} to those of the I/O handler. */
    abstract IoOps ops(int wanted);

    /** The ready operations of an event. */
    abstract int ready(IoEvent event);

    /** The operations that are watched. */
    final int operations() {
        return operations;
    }

    /** Registers at once if the calling thread runs the loop, otherwise with the next run. */
    final void register() {
        if (loop.inEventLoop()) {
            registerInLoop();
        } else {
            loop.execute(this::registerInLoop);
        }
    }

    private void registerInLoop() {
        if (cancelled || !isOpen()) {
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
            if (isOpen()) {
                loop.failed(new IllegalStateException(
                        "cannot register " + this + " with the reactor of tcp: " + e.getMessage(), e));
            }
        }
    }

    @Override
    public final void operations(int wanted) {
        operations = wanted;
        IoRegistration made = registration;
        if (made != null) {
            submit(made);
        }
    }

    private void submit(IoRegistration made) {
        try {
            made.submit(ops(operations));
        } catch (CancelledKeyException _) {
            // the owner has closed the channel and needs no event
        }
    }

    @Override
    public final void cancel() {
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
    public final void handle(IoRegistration made, IoEvent event) {
        int ready = ready(event);
        if (cancelled || ready == 0) {
            return;
        }
        try {
            handler.onReady(ready);
        } catch (RuntimeException | Error e) {
            loop.failed(e);
        }
    }

    /** Does nothing: the owner closes the channel or descriptor. */
    @Override
    public final void close() {}
}
