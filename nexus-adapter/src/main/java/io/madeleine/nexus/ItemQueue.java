package io.madeleine.nexus;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a stream. A virtual thread of its own passes arriving items to the subscriber, which may block.
 * No more items may arrive than the subscriber has requested, and no more than a window of items that it has not taken
 * yet, however many it requests: this bounds the queue.
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
        /** Permits the source to send this many more items. */
        void credit(long count);

        /** Stops the source; called at most once, and not after the end. */
        void stop();

        /** Reports an exception of a subscriber. */
        void subscriberFailed(Class<?> subscriber, Throwable cause);
    }

    private final Source source;
    private final Flow.Subscriber<Object> subscriber;
    private final Queue<Object> arrived = new ConcurrentLinkedQueue<>();
    private final AtomicLong owed = new AtomicLong();
    private final Thread thread =
            Thread.ofVirtual().name("nexus-subscriber").unstarted(RemoteCall.wrap((Runnable) this));
    private final int window;

    /** The number of items that the subscriber has requested and the source has no credit for yet. */
    private long wanted;

    /** The number of items that the source has credit for and the subscriber has not taken. */
    private long underWay;

    private volatile boolean cancelled;
    private boolean stopped;

    /** Creates a queue that holds at most {@code window} items. */
    ItemQueue(Source source, Flow.Subscriber<Object> subscriber, int window) {
        this.source = source;
        this.subscriber = Objects.requireNonNull(subscriber, "subscriber");
        this.window = window;
    }

    /** Starts to call the subscriber. */
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
                    boolean _ = Thread.interrupted(); // left behind by the subscriber; park would not wait
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
        } catch (Throwable e) { // thrown by the subscriber
            cancel();
            source.subscriberFailed(subscriber.getClass(), e);
        }
    }

    @SuppressWarnings("NullAway") // the user's publisher may publish null
    private void deliver(Object next) {
        subscriber.onNext(next == NULL ? null : next);
        ask(0, 1);
    }

    @Override
    public void request(long count) {
        if (count <= 0) {
            stop();
            fail(new IllegalArgumentException(count + " items asked for: expected at least 1"));
            return;
        }
        ask(count, 0);
    }

    /**
     * Notes that the subscriber has requested {@code more} items and has taken {@code taken}; gives credit to the
     * source.
     */
    private void ask(long more, int taken) {
        long credit = 0;
        synchronized (this) {
            wanted = wanted + more < 0 ? Long.MAX_VALUE : wanted + more;
            underWay -= taken;
            long room = window - underWay;
            if (wanted > 0
                    && (wanted <= room || room >= (window + 1) / 2)) { // else later and more at once: fewer messages
                credit = Math.min(wanted, room);
                underWay += credit;
                wanted -= wanted == Long.MAX_VALUE ? 0 : credit;
                owed.addAndGet(credit); // before the source can send
            }
        }
        if (credit > 0 && !cancelled) {
            source.credit(credit);
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        stop();
        LockSupport.unpark(thread);
    }

    private void stop() {
        synchronized (this) {
            if (stopped) {
                return;
            }
            stopped = true;
        }
        source.stop();
    }

    /** Accepts an arriving item; false if the subscriber has not requested it. */
    boolean accept() {
        return owed.getAndUpdate(now -> now == 0 ? 0 : now - 1) > 0;
    }

    /** Adds an accepted item. */
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
