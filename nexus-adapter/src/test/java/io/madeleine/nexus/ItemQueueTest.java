package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
        assertEquals(1, stops.get());
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

    /**
     * A source that sends what it has credit for at once, in the subscriber's thread. It ends with the item {@code
     * last}; every fourth item is null.
     */
    private static final class Sending implements ItemQueue.Source {
        private final int window;
        private final int last;
        private ItemQueue queue;
        private int sent;
        private int taken;
        private long requested;
        private long credit;
        private int creditCount;
        private int stops;
        private String failure = "";

        Sending(int window, int last) {
            this.window = window;
            this.last = last;
        }

        @Override
        public void credit(long count) {
            creditCount++;
            credit += count;
            assertTrue(count > 0 && credit <= requested, credit + " items are asked for of " + requested);
            assertTrue(credit - taken <= window, credit - taken + " items may be held, in a window of " + window);
            for (long i = 0; i < count && sent < last; i++) {
                assertTrue(queue.accept());
                sent++;
                queue.add(sent % 4 == 0 ? null : sent);
                if (sent == last) {
                    queue.complete();
                }
            }
            assertEquals(sent < credit, queue.accept(), "beyond the credit nothing is taken");
        }

        @Override
        public void stop() {
            stops++;
        }

        @Override
        public void subscriberFailed(Class<?> subscriber, Throwable cause) {
            failure = String.valueOf(cause.getMessage());
        }
    }

    /** Takes all items in the calling thread. */
    private static void take(Sending source, int window, LongUnaryOperator requestAt, Consumer<Flow.Subscription> at5) {
        boolean[] over = new boolean[1];
        source.queue = new ItemQueue(
                source,
                new Flow.Subscriber<>() {
                    private Flow.Subscription subscription;

                    @Override
                    public void onSubscribe(Flow.Subscription begun) {
                        subscription = begun;
                        request();
                    }

                    private void request() {
                        long more = requestAt.applyAsLong(source.taken);
                        if (more > 0) {
                            source.requested = source.requested + more < 0 ? Long.MAX_VALUE : source.requested + more;
                            subscription.request(more);
                        }
                    }

                    @Override
                    public void onNext(Object item) {
                        source.taken++;
                        assertEquals(source.taken % 4 == 0 ? null : source.taken, item);
                        if (source.taken == 5) {
                            at5.accept(subscription);
                        }
                        request();
                    }

                    @Override
                    public void onError(Throwable thrown) {
                        source.failure = String.valueOf(thrown.getMessage());
                        over[0] = true;
                    }

                    @Override
                    public void onComplete() {
                        over[0] = true;
                    }
                },
                window);
        source.queue.run();
        assertTrue(over[0] || source.stops > 0);
    }

    /** However many the subscriber asks for at a time: it gets all, and no more are under way than fit. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 8, 64})
    void shouldGiveCreditForWhatWasRequestedAndFits(int window) {
        LongUnaryOperator[] requests = {
            taken -> 1,
            taken -> taken % 3 == 0 ? 3 : 0,
            taken -> taken % 10 == 0 ? 10 : 0,
            taken -> taken == 0 ? Long.MAX_VALUE : 0,
            taken -> Long.MAX_VALUE,
            taken -> taken == 0 ? Long.MAX_VALUE - 2 : 1,
        };
        for (int i = 0; i < requests.length; i++) {
            Sending source = new Sending(window, 60);
            take(source, window, requests[i], _ -> {});
            assertEquals(60, source.taken, "requests " + i);
            assertEquals("", source.failure);
            assertEquals(0, source.stops);
            if (i >= 3) { // a message for half a window
                int least = (window + 1) / 2;
                assertTrue(source.creditCount <= 1 + (60 + least - 1) / least, source.creditCount + " messages");
            }
        }
    }

    @Test
    void shouldDeliverNothingAndGiveNoCreditAfterItWasCancelled() {
        Sending source = new Sending(8, 60);
        long[] atCancel = new long[1];
        take(source, 8, _ -> 1, subscription -> {
            subscription.cancel();
            atCancel[0] = source.credit;
        });
        assertEquals(5, source.taken);
        assertEquals(atCancel[0], source.credit);
        assertEquals(1, source.stops);
        assertEquals("", source.failure);
    }

    @Test
    void shouldStopTheSourceAndReportTheSubscriberThatFails() {
        Sending source = new Sending(8, 60);
        take(source, 8, _ -> 1, _ -> {
            throw new IllegalStateException("the subscriber's own");
        });
        assertEquals(5, source.taken);
        assertEquals(1, source.stops);
        assertEquals("the subscriber's own", source.failure);
    }

    @Test
    void shouldDeliverWhatCameBeforeAFailureAndThenTheFailure() {
        Sending source = new Sending(8, 60);
        take(source, 8, taken -> taken == 0 ? 7 : 0, _ -> source.queue.fail(new IllegalStateException("cut")));
        assertEquals(7, source.taken);
        assertEquals("cut", source.failure);
    }

    /** The thread parks between them, also if the subscriber has left it interrupted. */
    @Test
    void shouldWakeItsThreadForAnItemAFailureAnEndAndACancel() throws Exception {
        for (String last : new String[] {"failure", "end", "cancel"}) {
            BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            ItemQueue queue = new ItemQueue(
                    source,
                    new Flow.Subscriber<>() {
                        @Override
                        public void onSubscribe(Flow.Subscription subscription) {
                            thread.complete(Thread.currentThread());
                            subscription.request(2);
                        }

                        @Override
                        public void onNext(Object item) {
                            seen.add(item);
                            Thread.currentThread().interrupt();
                        }

                        @Override
                        public void onError(Throwable thrown) {
                            seen.add("failure");
                        }

                        @Override
                        public void onComplete() {
                            seen.add("end");
                        }
                    },
                    8);
            queue.start();
            for (int i = 0; i < 2; i++) {
                awaitParked(thread.get(20, TimeUnit.SECONDS));
                assertTrue(queue.accept());
                queue.add(i);
                assertEquals(i, seen.poll(20, TimeUnit.SECONDS));
            }
            awaitParked(thread.get());
            switch (last) {
                case "failure" -> queue.fail(new IllegalStateException("cut"));
                case "end" -> queue.complete();
                default -> queue.cancel();
            }
            assertTrue(thread.get().join(Duration.ofSeconds(20)), last);
            assertEquals(last.equals("cancel") ? null : last, seen.poll());
        }
    }

    private static void awaitParked(Thread thread) throws InterruptedException {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
    }
}
