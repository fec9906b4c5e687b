package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls with streams as parameters: client streaming, and bidirectional. */
@ParameterizedClass
@ValueSource(strings = {"sci", "tcp"})
@Timeout(60)
class StreamParametersTest {
    @Parameter
    String network;

    private final Semaphore permits = new Semaphore(0);
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger streamFailures = new AtomicInteger();

    /** Called. */
    @RemoteService
    public interface Streams {
        /** Their sum, times the factor. */
        long sum(int factor, Flow.Publisher<Integer> numbers);

        /** How many, at the end. */
        CompletableFuture<Integer> count(Flow.Publisher<String> texts);

        /** Each of one with that of the other. */
        Flow.Publisher<String> join(Flow.Publisher<String> left, Flow.Publisher<String> right);

        /** Each one's square. */
        Flow.Publisher<Integer> squares(Flow.Publisher<Integer> numbers);

        /** The first ones only. */
        List<Integer> first(int count, Flow.Publisher<Integer> numbers);

        /** Takes one for each permit. */
        int slowly(Flow.Publisher<Integer> numbers);
    }

    private final class Implementation implements Streams {
        @Override
        public long sum(int factor, Flow.Publisher<Integer> numbers) {
            AtomicLong sum = new AtomicLong();
            Publishers.forEach(numbers, 16, number -> sum.addAndGet(number)).join();
            return factor * sum.get();
        }

        @Override
        public CompletableFuture<Integer> count(Flow.Publisher<String> texts) {
            return Publishers.toList(texts).thenApply(List::size);
        }

        @Override
        public Flow.Publisher<String> join(Flow.Publisher<String> left, Flow.Publisher<String> right) {
            List<String> lefts = Publishers.toList(left).join();
            List<String> rights = Publishers.toList(right).join();
            return Publishers.of(IntStream.range(0, lefts.size())
                    .mapToObj(i -> lefts.get(i) + rights.get(i))
                    .toList());
        }

        @Override
        public Flow.Publisher<Integer> squares(Flow.Publisher<Integer> numbers) {
            return subscriber -> numbers.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscriber.onSubscribe(subscription);
                }

                @Override
                public void onNext(Integer number) {
                    subscriber.onNext(number * number);
                }

                @Override
                public void onError(Throwable thrown) {
                    streamFailures.incrementAndGet();
                    subscriber.onError(thrown);
                }

                @Override
                public void onComplete() {
                    subscriber.onComplete();
                }
            });
        }

        @Override
        public List<Integer> first(int count, Flow.Publisher<Integer> numbers) {
            CompletableFuture<List<Integer>> result = new CompletableFuture<>();
            List<Integer> first = new ArrayList<>();
            numbers.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscription.request(count);
                }

                @Override
                public void onNext(Integer number) {
                    first.add(number);
                    if (first.size() == count) {
                        result.complete(first);
                    }
                }

                @Override
                public void onError(Throwable thrown) {
                    result.completeExceptionally(thrown);
                }

                @Override
                public void onComplete() {
                    result.complete(first);
                }
            });
            return result.join();
        }

        @Override
        public int slowly(Flow.Publisher<Integer> numbers) {
            try {
                Publishers.forEach(numbers, 10, _ -> {
                            permits.acquireUninterruptibly();
                            taken.incrementAndGet();
                        })
                        .join();
            } catch (CompletionException e) {
                streamFailures.incrementAndGet();
                throw e;
            }
            return taken.get();
        }
    }

    private World world(int size) {
        return new World(network, size, context -> context.export(Streams.class, new Implementation()));
    }

    @Test
    void shouldTakeStreamsAsParameters() throws Exception {
        try (World world = world(2)) {
            Streams remote = world.of(1).service(0, Streams.class);
            List<Integer> numbers = IntStream.range(0, 5_000).boxed().toList();
            assertEquals(3L * 4999 * 5000 / 2, remote.sum(3, Publishers.of(numbers)));
            assertEquals(0, remote.sum(3, Publishers.of(List.of())));
            List<String> texts = List.of("a", "bc".repeat(2_000), "");
            assertEquals(3, remote.count(Publishers.of(texts)).get(20, TimeUnit.SECONDS));
            assertEquals(
                    List.of("ax", "bc".repeat(2_000) + "y", "z"),
                    Publishers.toList(remote.join(Publishers.of(texts), Publishers.of(List.of("x", "y", "z"))))
                            .get(20, TimeUnit.SECONDS));
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    @Test
    void shouldStreamBothWaysAtOnce() throws Exception {
        try (World world = world(2)) {
            SubmissionPublisher<Integer> numbers = new SubmissionPublisher<>();
            Streams remote = world.of(1).service(0, Streams.class);
            List<Integer> squares = new ArrayList<>();
            AtomicInteger came = new AtomicInteger();
            CompletableFuture<Void> done = Publishers.forEach(remote.squares(numbers), 4, square -> {
                squares.add(square);
                came.incrementAndGet();
            });
            World.await(numbers::hasSubscribers);
            for (int i = 0; i < 100; i++) { // one answer before the next question
                int number = i;
                numbers.submit(number);
                World.await(() -> came.get() == number + 1);
            }
            numbers.close();
            done.get(20, TimeUnit.SECONDS);
            assertEquals(99 * 99, squares.getLast());
        }
    }

    @Test
    void shouldPublishNoFasterThanTheOtherSideAsks() throws Exception {
        try (World world = world(2)) {
            Streams remote = world.of(1).service(0, Streams.class);
            AtomicInteger published = new AtomicInteger();
            CompletableFuture<Integer> call =
                    CompletableFuture.supplyAsync(() -> remote.slowly(Publishers.of(() -> IntStream.range(0, 1_000)
                            .peek(_ -> published.incrementAndGet())
                            .iterator())));
            World.await(() -> published.get() >= 10);
            Thread.sleep(150);
            assertTrue(published.get() <= 11, published + " were published for a window of 10");
            permits.release(1_000);
            assertEquals(1_000, call.get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldStopPublishingWhenTheCallIsOver() throws Exception {
        try (World world = world(2)) {
            Streams remote = world.of(1).service(0, Streams.class);
            AtomicBoolean cancelled = new AtomicBoolean();
            Flow.Publisher<Integer> endless = subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                private int next;

                @Override
                public void request(long count) {
                    for (long i = 0; i < count && !cancelled.get(); i++) {
                        subscriber.onNext(next++);
                    }
                }

                @Override
                public void cancel() {
                    cancelled.set(true);
                }
            });
            assertEquals(List.of(0, 1, 2), remote.first(3, endless));
            World.await(cancelled::get);
        }
    }

    @Test
    void shouldBringFailuresOfTheStreamToTheImplementation() {
        try (World world = world(2)) {
            Streams remote = world.of(1).service(0, Streams.class);
            Flow.Publisher<Integer> failing = subscriber -> {
                subscriber.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long count) {
                        subscriber.onError(new IllegalStateException("no more numbers"));
                    }

                    @Override
                    public void cancel() {}
                });
            };
            RemoteException e = assertThrows(RemoteException.class, () -> remote.slowly(failing));
            assertTrue(e.toString().contains("no more numbers"), e::toString);
        }
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored")
    void shouldEndStreamsOfACallerThatDies() throws Exception {
        try (World world = world(3);
                SubmissionPublisher<Integer> numbers = new SubmissionPublisher<>()) {
            Streams remote = world.of(1).service(0, Streams.class);
            CompletableFuture<Integer> call =
                    CompletableFuture.supplyAsync(() -> remote.slowly(numbers), Thread::startVirtualThread);
            World.await(numbers::hasSubscribers);
            permits.release(1);
            numbers.submit(1);
            World.await(() -> taken.get() == 1);
            world.die(1);
            world.of(0).node().nodes().get(1).lostBySession("it is dead"); // as a session says
            World.await(() -> world.of(0).runningCount() == 0);
            assertThrows(ExecutionException.class, () -> call.get(10, TimeUnit.SECONDS));
        }
    }

    /** Not callable. */
    @RemoteService
    public interface Twice {
        /** A stream comes once. */
        @Idempotent
        int count(Flow.Publisher<Integer> numbers);
    }

    @Test
    void shouldRejectStreamsOfIdempotentMethodsAndNull() {
        try (World world = world(2)) {
            IllegalArgumentException e = assertThrows(
                    IllegalArgumentException.class, () -> world.of(1).service(0, Twice.class));
            assertTrue(String.valueOf(e.getMessage()).contains("comes once"), e::toString);
            Streams remote = world.of(1).service(0, Streams.class);
            assertInstanceOf(
                    NullPointerException.class, assertThrows(RuntimeException.class, () -> remote.sum(1, null)));
            assertInstanceOf(
                    NullPointerException.class,
                    remote.count(null).handle((_, failure) -> failure).join());
            assertEquals(0, world.of(1).outstandingCount());
        }
    }
}
