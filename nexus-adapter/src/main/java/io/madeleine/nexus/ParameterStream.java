package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import io.madeleine.nexus.wire.RequestLayout;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A stream parameter of a call, as its implementation sees it. It admits one subscriber, gets no more items than the
 * subscriber has requested, and ends with the call.
 *
 * <p>Threading: thread-safe.
 */
final class ParameterStream implements Flow.Publisher<Object>, ItemQueue.Source {
    private static final int CREDIT = RequestLayout.id("parameter credit");
    private static final int CANCEL = RequestLayout.id("parameter cancel");

    private static final Object ENDED = new Object();

    private final Node node;
    private final InboundCalls.Key key;
    private final ServiceMethod method;
    private final int parameter;
    private final long deadlineNs;
    private final Consumer<NexusException> callFails;
    private final AtomicReference<@Nullable ItemQueue> items = new AtomicReference<>();
    /** Why the stream has ended: a {@link Throwable}, or {@link #ENDED} for a regular end; null while it runs. */
    private volatile @Nullable Object over;

    private long itemCount;

    /**
     * Creates the stream.
     *
     * @param deadlineNs that of the call, in {@link System#nanoTime} terms: until then the caller may take nothing
     * @param callFails ends the call if an item cannot be read
     */
    ParameterStream(
            Node node,
            InboundCalls.Key key,
            ServiceMethod method,
            int parameter,
            long deadlineNs,
            Consumer<NexusException> callFails) {
        this.deadlineNs = deadlineNs;
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
                    + " has a subscriber already: expected one, as the items are sent once"));
        }
        queue.start();
        tell(queue);
    }

    /** Passes the end on to the subscriber, perhaps twice; the queue delivers the first only. */
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
            arguments.sendBy(deadlineNs);
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

    /** Takes an item; called by the receiving thread. */
    void item(Request request) {
        if (over != null) {
            return;
        }
        itemCount++;
        ItemQueue queue = items.get();
        if (queue == null || !queue.accept()) {
            endWith(new NexusException("rank " + key.caller() + " sends more items than were requested"));
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

    /** Ends the stream here, and the call at the caller. */
    private void endWith(NexusException failure) {
        stop();
        callFails.accept(failure);
    }

    /** Takes the end of the stream, with or without a failure. */
    void end(Request request) {
        Throwable failure;
        try {
            failure = request.getBoolean() ? ExceptionCoding.read(request, new Class<?>[0]) : null;
        } catch (Throwable e) {
            failure = new CodingException("the end of parameter " + (parameter + 1) + " of " + method, "read", e);
        }
        finish(failure == null ? ENDED : failure);
    }

    /** Ends the stream with a failure, unless it has ended. */
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
