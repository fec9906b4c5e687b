package io.madeleine.pmm;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A reactor over the JDK's {@link Selector}. It selects with an action, which needs no set of selected keys and so
 * allocates nothing.
 *
 * <p>Threading: as for {@link Reactor}.
 */
public final class SelectorReactor implements Reactor {
    private final Selector selector;
    private final TimedSelector timed;
    private final WatchedDescriptors descriptors = new WatchedDescriptors(this::wakeUp);
    private final Consumer<SelectionKey> dispatch = SelectorReactor::dispatch;
    private final Consumer<SelectionKey> dispatchIfAllowed = this::dispatchIfAllowed;

    /** Whether a thread is in the selector; another one would block until it leaves. */
    private final AtomicBoolean selecting = new AtomicBoolean();

    private BooleanSupplier mayHandle = SelectorReactor::always; // set by the thread in the selector

    /** Opens the selector. */
    public SelectorReactor() {
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot open a selector; is the limit of open files reached (ulimit -n)?", e);
        }
        timed = new TimedSelector(selector);
    }

    @Override
    public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
        try {
            SelectionKey key = channel.register(selector, operations, handler);
            selector.wakeup(); // a sleep that has begun does not see the new key
            return new Registration() {
                @Override
                public void operations(int wanted) {
                    if (key.isValid() && key.interestOps() != wanted) {
                        key.interestOps(wanted);
                    }
                }

                @Override
                public void cancel() {
                    key.cancel();
                }
            };
        } catch (ClosedChannelException e) {
            throw new UncheckedIOException("cannot watch a closed channel", e);
        }
    }

    @Override
    public Availability descriptors() {
        return WatchedDescriptors.availability();
    }

    @Override
    public Registration registerDescriptor(int descriptor, int operations, ReadyHandler handler) {
        return descriptors.register(descriptor, operations, handler);
    }

    private static boolean always() {
        return true;
    }

    private static void dispatch(SelectionKey key) {
        try {
            if (key.isValid()) {
                ((ReadyHandler) key.attachment()).onReady(key.readyOps());
            }
        } catch (CancelledKeyException _) {
            // the owner cancelled the key between the two lines and needs no event any more
        }
    }

    private void dispatchIfAllowed(SelectionKey key) {
        if (mayHandle.getAsBoolean()) {
            dispatch(key);
        }
    }

    @Override
    public int poll() {
        if (!selecting.compareAndSet(false, true)) {
            return 0;
        }
        try {
            return selector.selectNow(dispatch) + descriptors.poll();
        } catch (IOException e) {
            throw new UncheckedIOException("selecting failed", e);
        } finally {
            selecting.set(false);
        }
    }

    @Override
    public int sleep(long timeoutNs) {
        return sleep(timeoutNs, dispatch, SelectorReactor::always);
    }

    @Override
    public int sleep(long timeoutNs, BooleanSupplier allowed) {
        mayHandle = allowed;
        return sleep(timeoutNs, dispatchIfAllowed, allowed);
    }

    private int sleep(long timeoutNs, Consumer<SelectionKey> action, BooleanSupplier allowed) {
        selecting.set(true);
        descriptors.arm();
        try {
            int handled = timed.select(action, timeoutNs);
            return descriptors.disarm() && allowed.getAsBoolean() ? handled + descriptors.poll() : handled;
        } catch (IOException e) {
            throw new UncheckedIOException("selecting failed", e);
        } finally {
            selecting.set(false);
        }
    }

    @Override
    public boolean asksBeforeHandling() {
        return true;
    }

    @Override
    public void wakeUp() {
        selector.wakeup();
    }

    @Override
    public void close() {
        descriptors.close();
        timed.close();
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException("closing a selector failed", e);
        }
    }
}
