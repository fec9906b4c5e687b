package io.madeleine.tm.tcp.reactor;

import io.madeleine.pmm.TimedSelector;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoEvent;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs Netty's NIO channels on a JDK selector. Differences to Netty's own handler: it selects with an action, which
 * needs no set of selected keys and so allocates nothing; it preserves the interrupt status; and it throws a failure
 * to the leader at once.
 *
 * <p>Threading: {@link #run} and {@link #register} belong to the thread that runs the loop; {@link #wakeup} is
 * thread-safe.
 */
final class SelectorIoHandler implements IoHandler {
    private static final NioIoEvent[] EVENTS = events();

    private final ThreadAwareExecutor executor;
    private final Selector selector;
    private final TimedSelector timed;
    private final Consumer<SelectionKey> dispatch = this::dispatch;

    /** Whether the selector may have lost a change of interest operations. */
    private volatile boolean inDoubt;

    private SelectorIoHandler(ThreadAwareExecutor executor) {
        this.executor = executor;
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot open a selector; is the limit of open files reached (ulimit -n)?", e);
        }
        timed = new TimedSelector(selector);
    }

    static IoHandlerFactory factory() {
        return SelectorIoHandler::new;
    }

    private static NioIoEvent[] events() {
        NioIoEvent[] events = new NioIoEvent[32];
        for (int i = 0; i < events.length; i++) {
            NioIoOps ops = NioIoOps.valueOf(i);
            events[i] = () -> ops;
        }
        return events;
    }

    @Override
    public int run(IoHandlerContext context) {
        try {
            if (inDoubt) {
                inDoubt = false;
                submitAgain();
            }
            return select(context);
        } catch (RuntimeException | Error e) {
            inDoubt = true;
            throw e;
        }
    }

    /**
     * Submits all interest operations again: the JDK's selector loses a change if it runs out of memory while it
     * processes the change.
     */
    private void submitAgain() {
        for (SelectionKey key : selector.keys()) {
            ((Registration) key.attachment()).submitAgain();
        }
    }

    private int select(IoHandlerContext context) {
        try {
            if (!context.canBlock()) {
                return selector.selectNow(dispatch);
            }
            long delayNs = context.delayNanos(System.nanoTime());
            if (delayNs <= 0) {
                return selector.selectNow(dispatch);
            }
            return timed.select(dispatch, delayNs);
        } catch (IOException e) {
            throw new UncheckedIOException("tcp: select() failed", e);
        }
    }

    private void dispatch(SelectionKey key) {
        if (executor instanceof LeaderEventLoop loop && !loop.mayHandle()) {
            return; // the next select reports it again
        }
        Registration registration = (Registration) key.attachment();
        try {
            if (registration.isValid()) {
                registration.handle.handle(registration, EVENTS[key.readyOps()]);
            }
        } catch (CancelledKeyException _) {
            // the owner cancelled the key between the check and the call, and needs no event
        }
    }

    @Override
    public void wakeup() {
        if (!executor.isExecutorThread(Thread.currentThread())) {
            selector.wakeup();
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) throws IOException {
        NioIoHandle nio = (NioIoHandle) handle;
        Registration registration = new Registration(nio);
        try {
            registration.register(selector);
        } catch (CancelledKeyException _) {
            selector.selectNow(_ -> {}); // removes the key of the channel's former registration
            registration.register(selector);
        }
        nio.registered();
        return registration;
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return NioIoHandle.class.isAssignableFrom(handleType);
    }

    @Override
    public void prepareToDestroy() {
        for (SelectionKey key : List.copyOf(selector.keys())) {
            ((Registration) key.attachment()).close();
        }
    }

    @Override
    public void destroy() {
        timed.close();
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException("tcp: closing the selector failed", e);
        }
    }

    /** A registered channel: Netty's, or a {@link WatchedChannel}. */
    private final class Registration implements IoRegistration {
        private final NioIoHandle handle;
        private volatile @Nullable SelectionKey key;
        private volatile boolean cancelled;
        private volatile int wanted;

        Registration(NioIoHandle handle) {
            this.handle = handle;
        }

        void register(Selector selector) throws IOException {
            key = handle.selectableChannel().register(selector, 0, this);
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        public <T> T attachment() {
            return (T) key();
        }

        private SelectionKey key() {
            SelectionKey made = key;
            if (made == null) {
                throw new IllegalStateException("the channel is not registered with the selector yet");
            }
            return made;
        }

        @Override
        public long submit(IoOps ops) {
            if (!isValid()) {
                return -1;
            }
            int operations = ((NioIoOps) ops).value();
            wanted = operations;
            try {
                key().interestOps(operations);
            } catch (OutOfMemoryError e) {
                inDoubt = true;
                throw e;
            }
            return operations;
        }

        /** Repeats the last submit. Other threads may submit other operations meanwhile. */
        void submitAgain() {
            int submitted;
            do {
                submitted = wanted;
                if (isValid()) {
                    key().interestOps(0).interestOps(submitted);
                }
            } while (submitted != wanted);
        }

        @Override
        public boolean isValid() {
            return !cancelled && key().isValid();
        }

        @Override
        public boolean cancel() {
            if (cancelled) {
                return false;
            }
            cancelled = true;
            key().cancel();
            handle.unregistered();
            return true;
        }

        void close() {
            cancel();
            try {
                handle.close();
            } catch (Exception _) {
                // the pipeline has reported it
            }
        }
    }
}
