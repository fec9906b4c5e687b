package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What ends a stream that is cut short is what its subscriber is told. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StreamEndsTest {
    private static final ContextOptions IMPATIENT = ContextOptions.DEFAULT.withCloseTimeout(Duration.ofMillis(50));

    private final CountDownLatch published = new CountDownLatch(1);

    @RemoteService
    interface Streams {
        Flow.Publisher<Integer> endless();
    }

    @RemoteService
    interface Taker {
        void take(Flow.Publisher<Integer> numbers);
    }

    /** Works for the current call; a failure of its own ends the stream at once when it is interrupted. */
    private static final class Publishing extends Thread {
        private final Flow.Subscriber<? super Integer> subscriber;

        Publishing(Flow.Subscriber<? super Integer> subscriber, CountDownLatch begun) {
            super(RemoteCall.wrap((Runnable) () -> {
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    // it ends
                }
            }));
            this.subscriber = subscriber;
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            subscriber.onError(new IllegalStateException("the publisher was interrupted"));
            super.interrupt();
        }
    }

    private Flow.Publisher<Integer> endless() {
        return subscriber -> {
            subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {}

                @Override
                public void cancel() {}
            });
            new Publishing(subscriber, published).start();
        };
    }

    @Test
    void shouldSayThatTheContextClosesWhenItsInterruptEndsThePublisherToo() throws Exception {
        try (World world = new World("sci", 2, IMPATIENT, context -> context.export(Streams.class, this::endless))) {
            CompletableFuture<?> items =
                    Publishers.toList(world.of(1).service(0, Streams.class).endless());
            published.await();
            world.of(0).close();
            ExecutionException thrown = assertThrows(ExecutionException.class, () -> items.get(20, TimeUnit.SECONDS));
            RemoteException why = assertInstanceOf(RemoteException.class, thrown.getCause());
            assertEquals(ErrorCode.CANCELLED, why.code(), why::toString);
            assertTrue(why.toString().contains("rank 0 closes its context"), why::toString);
        }
    }

    @Test
    void shouldSayToTheSubscriberOfAParameterThatItsCallerIsGone() throws Exception {
        CompletableFuture<Throwable> heard = new CompletableFuture<>();
        CountDownLatch subscribed = new CountDownLatch(1);
        Taker taker = numbers -> {
            CompletableFuture<Void> taken = Publishers.forEach(numbers, 1, _ -> {});
            CompletableFuture<Void> _ = taken.whenComplete((_, failure) -> heard.complete(failure));
            subscribed.countDown();
            World.await(heard::isDone);
        };
        try (World world = new World("sci", 2, context -> context.export(Taker.class, taker))) {
            Thread caller = Thread.ofVirtual().start(() -> {
                try {
                    world.of(1).service(0, Taker.class).take(endless());
                } catch (RuntimeException e) {
                    // it dies
                }
            });
            subscribed.await();
            world.of(0).node().nodes().get(1).lostBySession("it has died"); // without a notice of the caller's
            PeerFailedException why = assertInstanceOf(PeerFailedException.class, heard.get(20, TimeUnit.SECONDS));
            // the subscriber may ask for items just then, and hears first that it cannot
            boolean isTold = why.getMessage().contains("rank 1, is gone: ")
                    || why.getMessage().contains("rank 1 cannot be reached: ");
            assertTrue(isTold && why.getMessage().contains("it has died"), why::getMessage);
            caller.interrupt();
        }
    }
}
