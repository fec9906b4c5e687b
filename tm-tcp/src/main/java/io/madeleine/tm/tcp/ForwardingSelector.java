package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Watches JDK channels for a loop that runs epoll. A thread selects and forwards each readiness event to the loop. It
 * does not watch the channel again until the loop has handled the event.
 *
 * <p>Threading: thread-safe. The thread starts with the first channel.
 */
final class ForwardingSelector implements AutoCloseable {
    private static final long PAUSE_NS = 10_000_000;

    private final LeaderEventLoop loop;
    private @Nullable Selector selector;

    ForwardingSelector(LeaderEventLoop loop) {
        this.loop = loop;
    }

    Reactor.Registration register(SelectableChannel channel, int operations, Reactor.ReadyHandler handler) {
        try {
            Forwarded forwarded = new Forwarded(selector(), operations, handler);
            forwarded.key = channel.register(forwarded.selector, operations, forwarded);
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

    private static void run(Selector selector) {
        while (selector.isOpen()) {
            try {
                selector.select(key -> ((Forwarded) key.attachment()).ready(key));
            } catch (IOException e) {
                throw new UncheckedIOException("tcp: select() failed", e);
            } catch (java.nio.channels.ClosedSelectorException _) {
                return;
            } catch (OutOfMemoryError _) { // no other thread watches: try again when memory may be free
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
    private final class Forwarded implements Reactor.Registration {
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

        /** Runs in the selecting thread. */
        synchronized void ready(SelectionKey selected) {
            try {
                onTheWay = selected.readyOps();
                selected.interestOps(0);
                loop.execute(this::handle);
            } catch (CancelledKeyException | RejectedExecutionException _) {
                onTheWay = 0; // the channel or the loop is closed
            } catch (OutOfMemoryError e) { // not forwarded: the next select reports it again
                onTheWay = 0;
                selected.interestOps(wanted);
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
                loop.failed(e);
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
