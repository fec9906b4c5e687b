package io.madeleine.nexus;

import io.madeleine.nexus.wire.RequestLayout;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * A call whose result is a stream.
 *
 * <p>Threading: thread-safe.
 */
final class StreamCall extends PendingCall.Unattended implements ItemQueue.Source {
    private static final int CREDIT = RequestLayout.id("credit");

    private final Node node;
    private final Calls calls;
    private final ItemQueue items;
    private long itemCount;

    StreamCall(
            Node node,
            Calls calls,
            int rank,
            ServiceMethod method,
            long deadlineNs,
            @Nullable OutgoingCall outgoing,
            Flow.Subscriber<Object> subscriber) {
        super(calls.nextId(), rank, method, deadlineNs, outgoing);
        this.node = node;
        this.calls = calls;
        this.items = new ItemQueue(this, subscriber, node.options().maxStreamItems());
    }

    void start(Calls.Target target, @Nullable Object @Nullable [] parameters) {
        try {
            calls.begin(this, target, parameters);
        } catch (Throwable e) {
            items.fail(e);
        }
        items.start();
    }

    @Override
    public void credit(long count) {
        try {
            Arguments arguments = new Arguments().putLong(id()).putLong(count);
            arguments.sendBy(deadlineNs()); // so that the subscriber hears of the deadline from its thread
            node.send(rank(), CREDIT, arguments);
        } catch (Throwable e) {
            if (calls.remove(this) != null) {
                calls.fail(this, e);
            }
        }
    }

    @Override
    public void stop() {
        calls.giveUp(this);
    }

    @Override
    public void subscriberFailed(Class<?> subscriber, Throwable cause) {
        node.failures().subscriberFailed(subscriber, method() + " of rank " + rank(), cause);
    }

    /** Takes an item; called by the receiving thread. */
    void item(Request request) {
        itemCount++;
        if (!items.accept()) {
            endWith(new NexusException("rank " + rank() + " sends more items than were requested"));
            return;
        }
        try {
            items.add(method().readResult(request));
        } catch (Throwable e) {
            endWith(notRead(e));
        }
    }

    /** As for an answer: after the deadline, the failure is the deadline. */
    private Throwable notRead(Throwable why) {
        try {
            if (isLate()) {
                return Calls.late(this);
            }
            return new CodingException("item " + itemCount + " of " + method() + " of rank " + rank(), "read", why);
        } catch (Throwable _) { // out of memory
            return why;
        }
    }

    /** Ends the call with a failure, here and at the other side. */
    private void endWith(Throwable failure) {
        if (calls.remove(this) != null) {
            calls.fail(this, failure);
            calls.tellGivenUp(this);
        }
    }

    @Override
    void succeed(@Nullable Object value) {
        items.complete();
    }

    @Override
    void fail(Throwable failure) {
        items.fail(failure);
    }
}
