package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Reactor;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import java.nio.channels.CancelledKeyException;
import org.jspecify.annotations.Nullable;

/**
 * Something in Netty's I/O handler that is not Netty's, and stays its owner's.
 *
 * <p>Threading: thread-safe; the handler is called by the thread that runs the loop.
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

    /** Whether it can be watched still. */
    abstract boolean isOpen();

    /** The operations as Netty's I/O handler names them. */
    abstract IoOps ops(int wanted);

    /** What an event says is ready. */
    abstract int ready(IoEvent event);

    /** What is watched for. */
    final int operations() {
        return operations;
    }

    /** Registers now if the loop is in this thread's hands, or else as soon as it is run. */
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
                loop.failed(new IllegalStateException("cannot watch " + this + ": " + e.getMessage(), e));
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
            // closed by its owner meanwhile, who needs no event any more
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

    /** Its owner closes it, not the loop. */
    @Override
    public final void close() {}
}
