package io.madeleine.nexus;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a stream: what arrives is given to the subscriber by a virtual thread of its own, so that it may take
 * its time. No more may arrive than the subscriber has asked for, nor than a window of items that it has not taken yet,
 * however many it asks for: that bounds the queue.
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

        /** What a subscriber of that class throws. */
        void subscriberFailed(Class<?> subscriber, Throwable cause);
    }

    private final Source source;
    private final Flow.Subscriber<Object> subscriber;
    private final Queue<Object> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicLong owed = new AtomicLong();
    private final Thread thread =
            Thread.ofVirtual().name("nexus-subscriber").unstarted(RemoteCall.wrap((Runnable) this));
    private final int window;

    /** What the subscriber wants and the source has not been asked for. */
    private long wanted;

    /** What the source has been asked for and the subscriber has not taken. */
    private long underWay;

    private volatile boolean cancelled;

    /** A queue that holds no more than {@code window} items. */
    ItemQueue(Source source, Flow.Subscriber<Object> subscriber, int window) {
        this.source = source;
        this.subscriber = subscriber;
        this.window = window;
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
                    boolean _ = Thread.interrupted(); // by the subscriber; with that, park would not wait
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
        } catch (Throwable e) { // of the subscriber
            cancel();
            source.subscriberFailed(subscriber.getClass(), e);
        }
    }

    @SuppressWarnings("NullAway") // a publisher of nulls is the user's
    private void deliver(Object next) {
        subscriber.onNext(next == NULL ? null : next);
        ask(0, 1);
    }

    @Override
    public void request(long count) {
        if (count <= 0) {
            source.stop();
            fail(new IllegalArgumentException(count + " items asked for: expected at least 1"));
            return;
        }
        ask(count, 0);
    }

    /** The subscriber wants so many more, and has taken so many. */
    private void ask(long more, int taken) {
        long credit = 0;
        synchronized (this) {
            wanted = wanted + more < 0 ? Long.MAX_VALUE : wanted + more;
            underWay -= taken;
            long room = window - underWay;
            if (wanted > 0
                    && (wanted <= room || room >= (window + 1) / 2)) { // else more of it soon, and fewer messages
                credit = Math.min(wanted, room);
                underWay += credit;
                wanted -= wanted == Long.MAX_VALUE ? 0 : credit;
                owed.addAndGet(credit); // before the source knows
            }
        }
        if (credit > 0 && !cancelled) {
            source.credit(credit);
        }
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
        return owed.getAndUpdate(now -> now == 0 ? 0 : now - 1) > 0;
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
