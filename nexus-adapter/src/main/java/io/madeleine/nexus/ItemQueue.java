package io.madeleine.nexus;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a stream: what arrives is given to the subscriber by a virtual thread of its own, so that it may take
 * its time. No more may arrive than the subscriber has asked for, which bounds the queue.
 *
 * <p>Threading: thread-safe.
 */
final class ItemQueue implements Flow.Subscription, Runnable {
    private static final Object COMPLETE = new Object();

    /** Stands for null in the queue. */
    private static final Object NULL = new Object();

    private record Failure(Throwable thrown) {}

    /** The other end of the stream. */
    interface Source {
        /** It may send so many more. */
        void credit(long count);

        /** Nothing is wanted any more; not called again, and not after the end. */
        void stop();

        /** What the subscriber throws. */
        void subscriberFailed(RuntimeException cause);
    }

    private final Source source;
    private final Flow.Subscriber<Object> subscriber;
    private final Queue<Object> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicLong owed = new AtomicLong();
    private final Thread thread = Thread.ofVirtual().name("nexus-subscriber").unstarted(this);
    private volatile boolean cancelled;

    ItemQueue(Source source, Flow.Subscriber<Object> subscriber) {
        this.source = source;
        this.subscriber = subscriber;
    }

    /** Calls the subscriber from now on. */
    void start() {
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
            source.subscriberFailed(e);
        }
    }

    @SuppressWarnings("NullAway") // a publisher of nulls is the user's
    private void deliver(Object next) {
        subscriber.onNext(next == NULL ? null : next);
    }

    @Override
    public void request(long count) {
        if (count <= 0) {
            source.stop();
            fail(new IllegalArgumentException(count + " items asked for: expected at least 1"));
            return;
        }
        owed.getAndAccumulate(count, (now, more) -> now + more < 0 ? Long.MAX_VALUE : now + more);
        source.credit(count);
    }

    @Override
    public void cancel() {
        if (!cancelled) {
            cancelled = true;
            source.stop();
            LockSupport.unpark(thread);
        }
    }

    /** Whether the subscriber has asked for one more, which comes now. */
    boolean accept() {
        return owed.getAndUpdate(now -> now == Long.MAX_VALUE ? now : now - 1) > 0;
    }

    /** An item that was accepted. */
    void add(@Nullable Object item) {
        arrived.add(item == null ? NULL : item);
        LockSupport.unpark(thread);
    }

    void complete() {
        arrived.add(COMPLETE);
        LockSupport.unpark(thread);
    }

    void fail(Throwable failure) {
        arrived.add(new Failure(failure));
        LockSupport.unpark(thread);
    }
}
