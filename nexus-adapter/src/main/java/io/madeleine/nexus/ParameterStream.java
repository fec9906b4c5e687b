package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A stream that a call has as a parameter, as its implementation gets it: one may subscribe, and items come no faster than
 * that one asks. It ends with the call.
 *
 * <p>Threading: thread-safe.
 */
final class ParameterStream implements Flow.Publisher<Object>, ItemQueue.Source {
    private static final int CREDIT = Wire.id("parameter credit");
    private static final int CANCEL = Wire.id("parameter cancel");

    private static final Object ENDED = new Object();

    private final Node node;
    private final ServedCalls.Key key;
    private final ServiceMethod method;
    private final int parameter;
    private final Consumer<NexusException> callFails;
    private final AtomicReference<@Nullable ItemQueue> items = new AtomicReference<>();
    /** Why it will not go on; {@link #ENDED} if it has come to its end. */
    private volatile @Nullable Object over;

    private long itemCount;

    /** The stream; {@code callFails} ends the call where an item cannot be read. */
    ParameterStream(
            Node node, ServedCalls.Key key, ServiceMethod method, int parameter, Consumer<NexusException> callFails) {
        this.callFails = callFails;
        this.node = node;
        this.key = key;
        this.method = method;
        this.parameter = parameter;
    }

    int index() {
        return parameter;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super Object> subscriber) {
        ItemQueue queue = new ItemQueue(this, subscriber, node.options().maxStreamItems());
        if (!items.compareAndSet(null, queue)) {
            queue.fail(new IllegalStateException("parameter " + (parameter + 1) + " of " + method
                    + " has a subscriber already: its items come once"));
        }
        queue.start();
        tell(queue);
    }

    /** Perhaps twice: the queue passes on the first. */
    private void tell(@Nullable ItemQueue queue) {
        Object why = over;
        if (queue != null && why instanceof Throwable thrown) {
            queue.fail(thrown);
        } else if (queue != null && why != null) {
            queue.complete();
        }
    }

    @Override
    public void credit(long count) {
        send(CREDIT, new Arguments().putLong(key.id()).putInt(parameter).putLong(count));
    }

    @Override
    public void stop() {
        if (over == null) {
            send(CANCEL, new Arguments().putLong(key.id()).putInt(parameter));
        }
    }

    private void send(int handler, Arguments arguments) {
        try {
            node.send(key.caller(), handler, arguments);
        } catch (MadeleineException e) {
            fail(e);
        }
    }

    @Override
    public void subscriberFailed(Class<?> subscriber, Throwable cause) {
        node.failures()
                .subscriberFailed(
                        subscriber,
                        "parameter " + (parameter + 1) + " of " + method + ", called by rank " + key.caller(),
                        cause);
    }

    /** An item has come; from the receiving thread. */
    void item(Request request) {
        if (over != null) {
            return;
        }
        itemCount++;
        ItemQueue queue = items.get();
        if (queue == null || !queue.accept()) {
            endWith(new NexusException("rank " + key.caller() + " sends more than it was asked for"));
            return;
        }
        Object item;
        try {
            item = method.readItem(parameter, request);
        } catch (Throwable e) {
            endWith(new CodingException(method.itemName(parameter, itemCount), "read", e));
            return;
        }
        queue.add(item);
    }

    /** Here, and at the caller, whose call it ends. */
    private void endWith(NexusException failure) {
        stop();
        callFails.accept(failure);
    }

    /** It is over, without or with a failure. */
    void end(Request request) {
        Throwable failure;
        try {
            failure = request.getBoolean() ? Thrown.read(request, new Class<?>[0]) : null;
        } catch (Throwable e) {
            failure = new CodingException("the end of parameter " + (parameter + 1) + " of " + method, "read", e);
        }
        finish(failure == null ? ENDED : failure);
    }

    /** It will not go on; nothing happens if it is over. */
    void fail(Throwable why) {
        finish(why);
    }

    private void finish(Object why) {
        if (over == null) {
            over = why;
            tell(items.get());
        }
    }
}
