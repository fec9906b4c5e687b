package io.madeleine.tm.tcp.reactor;

import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches JDK channels for a loop that runs epoll. A thread selects and forwards each readiness event to the loop. It
 * does not watch the channel again until the loop has handled the event.
 *
 * <p>Threading: thread-safe. The thread starts with the first channel.
 */
final class ForwardingSelector implements AutoCloseable {
    private static final long PAUSE_NS = 10_000_000;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.tm.tcp"));
    private final Executor loop;
    private final Consumer<Throwable> handlerFailed;
    private @Nullable Selector selector;

    /**
     * A selector without channels, and without a thread.
     *
     * @param loop runs the handlers
     * @param handlerFailed is told in the loop what a handler has thrown
     */
    ForwardingSelector(Executor loop, Consumer<Throwable> handlerFailed) {
        this.loop = loop;
        this.handlerFailed = handlerFailed;
    }

    Reactor.Registration register(SelectableChannel channel, int operations, Reactor.ReadyHandler handler) {
        try {
            Forwarded forwarded = new Forwarded(selector(), operations, handler);
            forwarded.registered(channel.register(forwarded.selector, operations, forwarded));
            forwarded.selector.wakeup();
            return forwarded;
        } catch (ClosedChannelException e) {
            throw new UncheckedIOException("cannot register a closed channel with the reactor of tcp", e);
        }
    }

    private synchronized Selector selector() {
        Selector opened = selector;
        if (opened == null) {
            try {
                opened = Selector.open();
            } catch (IOException e) {
                throw new UncheckedIOException(
                        "cannot open a selector; is the limit of open files reached (ulimit -n)?", e);
            }
            Selector watched = opened;
            selector = opened;
            Thread.ofPlatform().daemon().name("madeleine-tcp-doorbells").start(() -> run(watched));
        }
        return opened;
    }

    private void run(Selector selector) {
        while (selector.isOpen()) {
            try {
                selector.select(key -> ((Forwarded) key.attachment()).ready(key));
            } catch (ClosedSelectorException _) {
                return;
            } catch (IOException | RuntimeException | Error e) { // no other thread watches: it must go on
                failures.error("cannot watch channels for the event loop of tcp; the thread goes on", e);
                LockSupport.parkNanos(selector, PAUSE_NS);
            }
        }
    }

    @Override
    public synchronized void close() {
        Selector opened = selector;
        if (opened != null) {
            try {
                opened.close();
            } catch (IOException _) {
                // there is nothing to lose
            }
        }
    }

    /** One channel. It is not watched while an event is on its way to the loop. */
    final class Forwarded implements Reactor.Registration {
        private final Selector selector;
        private final Reactor.ReadyHandler handler;
        private @Nullable SelectionKey key;
        private int wanted;
        private int onTheWay;
        private boolean cancelled;

        Forwarded(Selector selector, int operations, Reactor.ReadyHandler handler) {
            this.selector = selector;
            this.wanted = operations;
            this.handler = handler;
        }

        private synchronized void registered(SelectionKey made) {
            key = made;
        }

        /** Runs in the selecting thread, possibly before the registering thread has the key. */
        synchronized void ready(SelectionKey selected) {
            key = selected;
            try {
                onTheWay = selected.readyOps();
                selected.interestOps(0);
                loop.execute(this::handle);
            } catch (CancelledKeyException | RejectedExecutionException _) {
                onTheWay = 0; // the channel or the loop is closed
            } catch (OutOfMemoryError e) { // not forwarded: the next select reports it again
                onTheWay = 0;
                apply();
                throw e;
            }
        }

        /** Runs in the loop. */
        private void handle() {
            int ready;
            synchronized (this) {
                ready = cancelled ? 0 : onTheWay & wanted;
            }
            try {
                if (ready != 0) {
                    handler.onReady(ready);
                }
            } catch (RuntimeException | Error e) {
                handlerFailed.accept(e);
            } finally {
                synchronized (this) {
                    onTheWay = 0;
                    apply();
                }
            }
        }

        @Override
        public synchronized void operations(int operations) {
            wanted = operations;
            if (onTheWay == 0) {
                apply();
            }
        }

        private void apply() {
            SelectionKey made = key;
            try {
                if (made != null && !cancelled && made.interestOps() != wanted) {
                    made.interestOps(wanted);
                    selector.wakeup();
                }
            } catch (CancelledKeyException _) {
                // the owner has closed the channel
            }
        }

        @Override
        public synchronized void cancel() {
            cancelled = true;
            SelectionKey made = key;
            if (made != null) {
                made.cancel();
                selector.wakeup();
            }
        }
    }
}
