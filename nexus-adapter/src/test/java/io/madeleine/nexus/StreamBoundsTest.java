package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A subscriber that asks for everything and takes its time has no more in store than a window. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StreamBoundsTest {
    private static final int ALL = 5_000;
    private static final long BRIEF_MS = 2_000;

    private final AtomicInteger published = new AtomicInteger();

    @RemoteService
    interface Numbers {
        Flow.Publisher<Integer> all();

        CompletableFuture<Integer> sum(Flow.Publisher<Integer> numbers);
    }

    /** Asks for everything, and takes nothing before it may. */
    private static final class Slow implements Flow.Subscriber<Integer> {
        private final CountDownLatch go = new CountDownLatch(1);
        private final CompletableFuture<Integer> sum = new CompletableFuture<>();
        private int soFar;

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Integer item) {
            try {
                go.await();
            } catch (InterruptedException e) {
                sum.completeExceptionally(e);
            }
            soFar += item;
        }

        @Override
        public void onError(Throwable thrown) {
            sum.completeExceptionally(thrown);
        }

        @Override
        public void onComplete() {
            sum.complete(soFar);
        }
    }

    private Flow.Publisher<Integer> counted() {
        return Publishers.of(() -> new Iterator<>() {
            @Override
            public boolean hasNext() {
                return published.get() < ALL;
            }

            @Override
            public Integer next() {
                return published.incrementAndGet();
            }
        });
    }

    private void checkBound(Slow slow, int window) throws Exception {
        World.await(() -> published.get() == window);
        Thread.sleep(200); // more would come now
        assertEquals(window, published.get());
        slow.go.countDown();
        assertEquals(ALL * (ALL + 1) / 2, slow.sum.get(20, TimeUnit.SECONDS));
    }

    @Test
    void shouldAskForAResultsItemsInWindowsHoweverManyTheSubscriberWants() throws Exception {
        try (World world = new World(
                "sci",
                2,
                context -> context.export(Numbers.class, new Numbers() {
                    @Override
                    public Flow.Publisher<Integer> all() {
                        return counted();
                    }

                    @Override
                    public CompletableFuture<Integer> sum(Flow.Publisher<Integer> numbers) {
                        throw new UnsupportedOperationException();
                    }
                }))) {
            Slow slow = new Slow();
            world.of(1).service(0, Numbers.class).all().subscribe(slow);
            checkBound(slow, ContextOptions.DEFAULT.maxStreamItems());
        }
    }

    @Test
    void shouldAskForAParametersItemsInWindowsHoweverManyTheSubscriberWants() throws Exception {
        Slow slow = new Slow();
        try (World world = new World(
                "sci",
                2,
                ContextOptions.DEFAULT.withMaxStreamItems(7),
                context -> context.export(Numbers.class, new Numbers() {
                    @Override
                    public Flow.Publisher<Integer> all() {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public CompletableFuture<Integer> sum(Flow.Publisher<Integer> numbers) {
                        numbers.subscribe(slow);
                        return slow.sum;
                    }
                }))) {
            CompletableFuture<Integer> sum =
                    world.of(1).service(0, Numbers.class).sum(counted());
            checkBound(slow, 7);
            assertTrue(sum.get(20, TimeUnit.SECONDS) > 0);
        }
    }

    @RemoteService
    interface Brief {
        @CallTimeout(millis = BRIEF_MS)
        Flow.Publisher<Integer> few();
    }

    @Test
    @Tag("measures")
    void shouldGiveEachSubscriptionTheWholeTimeOfTheMethod() throws Exception {
        try (World world =
                new World("sci", 2, context -> context.export(Brief.class, () -> Publishers.of(List.of(1, 2, 3))))) {
            Flow.Publisher<Integer> few = world.of(1).service(0, Brief.class).few();
            long madeNs = System.nanoTime();
            assertEquals(List.of(1, 2, 3), Publishers.toList(few).get(20, TimeUnit.SECONDS));
            World.await(() -> System.nanoTime() - madeNs > TimeUnit.MILLISECONDS.toNanos(BRIEF_MS));
            assertEquals(List.of(1, 2, 3), Publishers.toList(few).get(20, TimeUnit.SECONDS));
        }
    }
}
