package io.madeleine.nexus;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Connects streams with iterables and consumers.
 *
 * <p>Threading: stateless.
 */
public final class Publishers {
    private Publishers() {}

    /** Publishes the elements of an iterable, from the start for each subscriber, and no faster than it requests. */
    public static <T> Flow.Publisher<T> of(Iterable<T> items) {
        Objects.requireNonNull(items, "items");
        return subscriber -> {
            Objects.requireNonNull(subscriber, "subscriber");
            subscriber.onSubscribe(new Iteration<>(items.iterator(), subscriber));
        };
    }

    /**
     * Passes all items to a consumer, which may block; at most {@code window} items are requested ahead. The future
     * completes at the end of the stream; cancelling it cancels the subscription.
     */
    public static <T> CompletableFuture<Void> forEach(
            Flow.Publisher<T> publisher, int window, Consumer<? super T> consumer) {
        Objects.requireNonNull(publisher, "publisher");
        Objects.requireNonNull(consumer, "consumer");
        Taking<T> taking = new Taking<>(window, consumer);
        publisher.subscribe(taking);
        return taking;
    }

    /** Collects all items. The future completes at the end of the stream; cancelling it cancels the subscription. */
    public static <T> CompletableFuture<List<T>> toList(Flow.Publisher<T> publisher) {
        List<T> items = new ArrayList<>();
        CompletableFuture<Void> taking = forEach(publisher, 256, items::add);
        CompletableFuture<List<T>> all = taking.thenApply(_ -> items);
        all.whenComplete((_, _) -> {
            if (all.isCancelled()) {
                taking.cancel(true);
            }
        });
        return all;
    }

    /** A subscription that publishes from within {@code request}, in one thread at a time. */
    private static final class Iteration<T> implements Flow.Subscription {
        private final Iterator<T> iterator;
        private final Flow.Subscriber<? super T> subscriber;
        private final AtomicLong wanted = new AtomicLong();
        private volatile boolean over;

        Iteration(Iterator<T> iterator, Flow.Subscriber<? super T> subscriber) {
            this.iterator = iterator;
            this.subscriber = subscriber;
        }

        @Override
        public void request(long count) {
            if (count <= 0) {
                if (!over) {
                    over = true;
                    subscriber.onError(new IllegalArgumentException(count + " items asked for: expected at least 1"));
                }
                return;
            }
            if (wanted.getAndAccumulate(count, (now, more) -> now + more < 0 ? Long.MAX_VALUE : now + more) != 0) {
                return; // the publishing thread sees the new count
            }
            try {
                for (long left = count; left > 0; left = wanted.addAndGet(-left)) {
                    for (long i = 0; i < left && !over; i++) {
                        if (!iterator.hasNext()) {
                            over = true;
                            subscriber.onComplete();
                            return;
                        }
                        subscriber.onNext(iterator.next());
                    }
                    if (!over && !iterator.hasNext()) { // tested while no other thread may iterate
                        over = true;
                        subscriber.onComplete();
                    }
                    if (over) {
                        return;
                    }
                }
            } catch (Throwable e) {
                over = true;
                subscriber.onError(e);
            }
        }

        @Override
        public void cancel() {
            over = true;
        }
    }

    /** A subscriber that requests half a window whenever it has taken half of it. */
    private static final class Taking<T> extends CompletableFuture<Void> implements Flow.Subscriber<T> {
        private final int window;
        private final Consumer<? super T> consumer;
        private final AtomicBoolean ended = new AtomicBoolean();
        private volatile Flow.@Nullable Subscription subscription;
        private int taken;

        Taking(int window, Consumer<? super T> consumer) {
            if (window < 1) {
                throw new IllegalArgumentException("a window of " + window + " items: expected at least 1");
            }
            this.window = window;
            this.consumer = consumer;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            if (ended.get()) {
                given.cancel();
            } else {
                given.request(window);
            }
        }

        @Override
        public void onNext(T item) {
            try {
                consumer.accept(item);
            } catch (Throwable e) {
                end();
                completeExceptionally(e);
                return;
            }
            int half = (window + 1) / 2;
            Flow.Subscription given = subscription;
            if (++taken == half && given != null) {
                taken = 0;
                given.request(half);
            }
        }

        @Override
        @SuppressWarnings("NullAway") // the publisher is user code
        public void onError(Throwable thrown) {
            completeExceptionally(
                    thrown == null ? new NullPointerException("the publisher has called onError(null)") : thrown);
        }

        @Override
        @SuppressWarnings("NullAway") // of type Void
        public void onComplete() {
            complete(null);
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            end();
            return super.cancel(mayInterruptIfRunning);
        }

        private void end() {
            ended.set(true);
            Flow.Subscription given = subscription;
            if (given != null) {
                given.cancel();
            }
        }
    }
}
