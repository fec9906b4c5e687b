package io.madeleine.nexus;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of a stream: what arrives is given to the subscriber by a virtual thread of its own, so that it may
 * take its time. No more arrives than the subscriber has asked for, which bounds the queue.
 *
 * <p>Threading: thread-safe.
 */
final class StreamCall extends PendingCall implements Flow.Subscription, Runnable {
    private static final int CREDIT = Wire.id("credit");
    private static final Object COMPLETE = new Object();

    private record Failure(Throwable thrown) {}

    /** Stands for null in the queue. */
    private static final Object NULL = new Object();

    private final Context context;
    private final Calls calls;
    private final Flow.Subscriber<Object> subscriber;
    private final Queue<Object> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicLong owed = new AtomicLong();
    private final Thread thread = Thread.ofVirtual().name("nexus-subscriber").unstarted(this);
    private volatile boolean cancelled;

    StreamCall(
            Context context,
            Calls calls,
            int rank,
            ServiceMethod method,
            long deadlineNs,
            Flow.Subscriber<Object> subscriber) {
        super(calls.nextId(), rank, method, deadlineNs);
        this.context = context;
        this.calls = calls;
        this.subscriber = subscriber;
    }

    void start(Calls.Target target, @Nullable Object @Nullable [] parameters) {
        try {
            calls.begin(this, target, parameters);
        } catch (RuntimeException e) {
            arrived.add(new Failure(e));
        }
        thread.start();
    }

    @Override
    public void run() {
        try {
            subscriber.onSubscribe(this);
            while (!cancelled) {
                Object next = arrived.poll();
                if (next == null) {
                    LockSupport.park(this);
                } else if (next == COMPLETE) {
                    subscriber.onComplete();
                    return;
                } else if (next instanceof Failure failure) {
                    subscriber.onError(failure.thrown());
                    return;
                } else {
                    deliver(next);
                }
            }
        } catch (RuntimeException e) { // of the subscriber
            cancel();
            context.failures().notReceived(rank(), e);
        }
    }

    @SuppressWarnings("NullAway") // a publisher of nulls is the user's
    private void deliver(Object next) {
        subscriber.onNext(next == NULL ? null : next);
    }

    @Override
    public void request(long count) {
        if (count <= 0) {
            if (calls.giveUp(this)) {
                fail(new IllegalArgumentException(count + " items asked for: expected at least 1"));
            }
            return;
        }
        owed.getAndAccumulate(count, (now, more) -> now + more < 0 ? Long.MAX_VALUE : now + more);
        try {
            context.send(
                    rank(),
                    Wire.SYSTEM_ENDPOINT,
                    CREDIT,
                    new Arguments().putLong(id()).putLong(count));
        } catch (RuntimeException e) {
            if (calls.remove(id()) != null) {
                fail(e);
            }
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        calls.giveUp(this);
        LockSupport.unpark(thread);
    }

    /** An item has come; from the receiving thread. */
    void item(Request request) {
        if (owed.getAndUpdate(now -> now == Long.MAX_VALUE ? now : now - 1) <= 0) {
            if (calls.giveUp(this)) {
                fail(new NexusException("rank " + rank() + " sends more than it was asked for"));
            }
            return;
        }
        Object item = method().readResult(request);
        arrived.add(item == null ? NULL : item);
        LockSupport.unpark(thread);
    }

    @Override
    void succeed(@Nullable Object value) {
        arrived.add(COMPLETE);
        LockSupport.unpark(thread);
    }

    @Override
    void fail(Throwable failure) {
        arrived.add(new Failure(failure));
        LockSupport.unpark(thread);
    }
}
