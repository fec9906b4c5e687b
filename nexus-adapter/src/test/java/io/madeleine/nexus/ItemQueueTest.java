package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a subscriber may do to its subscription, and what the other end of the stream hears of it. */
@Timeout(60)
class ItemQueueTest {
    private final AtomicInteger stops = new AtomicInteger();
    private final CompletableFuture<String> end = new CompletableFuture<>();

    private final ItemQueue.Source source = new ItemQueue.Source() {
        @Override
        public void credit(long count) {}

        @Override
        public void stop() {
            stops.incrementAndGet();
        }

        @Override
        public void subscriberFailed(Class<?> subscriber, Throwable cause) {
            end.completeExceptionally(cause);
        }
    };

    private ItemQueue queueOf(Consumer<Flow.Subscription> begin) {
        return new ItemQueue(
                source,
                new Flow.Subscriber<>() {
                    @Override
                    public void onSubscribe(Flow.Subscription subscription) {
                        begin.accept(subscription);
                    }

                    @Override
                    public void onNext(Object item) {}

                    @Override
                    public void onError(Throwable thrown) {
                        end.complete(String.valueOf(thrown.getMessage()));
                    }

                    @Override
                    public void onComplete() {
                        end.complete("");
                    }
                },
                8);
    }

    @Test
    void shouldStopTheSourceOnceHoweverOftenTheSubscriberAsksForNothing() throws Exception {
        ItemQueue queue = queueOf(subscription -> {
            subscription.request(0);
            subscription.request(-1);
        });
        queue.start();
        assertEquals("0 items asked for: expected at least 1", end.get(20, TimeUnit.SECONDS));
        queue.cancel();
        queue.cancel();
        assertEquals(1, stops.get());
    }

    @Test
    void shouldStopTheSourceOnceWhenTheSubscriberCancelsAndThenAsksForNothing() {
        ItemQueue queue = queueOf(_ -> {});
        queue.cancel();
        queue.request(0);
        assertEquals(1, stops.get());
    }
}
