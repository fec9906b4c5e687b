package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.WaitInterruptedException;
import io.madeleine.nexus.wire.RequestLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Futures and streams that methods have returned count, are cancelled, and are waited for; closing has an order. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InboundCallsTest {
    private final BlockingQueue<CompletableFuture<Integer>> futures = new LinkedBlockingQueue<>();
    private final BlockingQueue<CompletableFuture<Boolean>> streams = new LinkedBlockingQueue<>();
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger runs = new AtomicInteger();

    @RemoteService(maxConcurrent = 2)
    interface Two {
        CompletableFuture<Integer> future();

        Flow.Publisher<Integer> stream();
    }

    @RemoteService
    interface Any {
        CompletableFuture<Integer> future();

        Flow.Publisher<Integer> stream();

        int work(int millis) throws InterruptedException;

        CompletableFuture<Integer> deaf();

        CompletableFuture<Integer> callsBack(int rank);
    }

    /** What it returns ends when the test says so. */
    private class Implementation implements Two, Any {
        private final Context context;

        Implementation(Context context) {
            this.context = context;
        }

        @Override
        public CompletableFuture<Integer> future() {
            CompletableFuture<Integer> future = new CompletableFuture<>();
            futures.add(future);
            return future;
        }

        @Override
        public Flow.Publisher<Integer> stream() {
            CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
            streams.add(cancelled);
            return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {}

                @Override
                public void cancel() {
                    cancelled.complete(true);
                }
            });
        }

        @Override
        public int work(int millis) throws InterruptedException {
            int run = runs.incrementAndGet();
            Thread.sleep(millis);
            return run;
        }

        @Override
        public CompletableFuture<Integer> deaf() {
            runs.incrementAndGet();
            while (true) {
                try {
                    go.await();
                    return CompletableFuture.completedFuture(1);
                } catch (InterruptedException e) {
                    // it does not hear that
                }
            }
        }

        @Override
        public CompletableFuture<Integer> callsBack(int rank) {
            runs.incrementAndGet();
            try {
                go.await();
                return CompletableFuture.completedFuture(
                        context.service(rank, Any.class).work(0));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private World world(int size, ContextOptions options) {
        return new World("sci", size, options, context -> {
            context.export(Two.class, new Implementation(context));
            context.export(Any.class, new Implementation(context));
        });
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return assertThrows(
                        CompletionException.class,
                        () -> future.orTimeout(20, TimeUnit.SECONDS).join())
                .getCause();
    }

    @Test
    void shouldCountFuturesAndStreamsThatAreNotOver() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT.withMaxRunning(3))) {
            Two two = world.of(1).service(0, Two.class);
            Any any = world.of(1).service(0, Any.class);
            CompletableFuture<Integer> first = two.future();
            CompletableFuture<?> open = Publishers.toList(two.stream());
            World.await(() -> futures.size() == 1 && streams.size() == 1);
            String bound = failureOf(two.future()).getMessage();
            assertTrue(bound.contains("maxConcurrent"), bound);
            CompletableFuture<Integer> third = any.future();
            World.await(() -> futures.size() == 2 && world.of(0).runningCount() == 3);
            bound = failureOf(any.future()).getMessage();
            assertTrue(bound.contains("maxRunning"), bound);
            bound = failureOf(Publishers.toList(any.stream())).getMessage();
            assertTrue(bound.contains("maxRunning"), bound);

            futures.take().complete(7);
            assertEquals(7, first.join());
            open.cancel(true);
            assertTrue(streams.take().get(20, TimeUnit.SECONDS));
            World.await(() -> world.of(0).runningCount() == 1);
            assertTrue(!world.of(0).drain(Duration.ofMillis(50)), "it did not wait for a future");
            futures.take().complete(8);
            assertEquals(8, third.join());
            World.await(() -> world.of(0).runningCount() == 0);
            assertTrue(world.of(0).drain(Duration.ofSeconds(20)));
        }
    }

    @Test
    void shouldNotCountACallThatMaxRunningRefusesAgainstMaxConcurrent() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT.withMaxRunning(2))) {
            Two two = world.of(1).service(0, Two.class);
            Any any = world.of(1).service(0, Any.class);
            CompletableFuture<Integer> first = any.future();
            CompletableFuture<Integer> second = any.future();
            World.await(() -> futures.size() == 2);
            for (int i = 0; i < 5; i++) {
                String bound = failureOf(two.future()).getMessage();
                assertTrue(bound.contains("maxRunning"), bound);
            }
            futures.take().complete(1);
            futures.take().complete(2);
            assertEquals(3, first.join() + second.join());
            World.await(() -> world.of(0).runningCount() == 0);

            CompletableFuture<Integer> third = two.future();
            CompletableFuture<Integer> fourth = two.future();
            World.await(() -> futures.size() == 2 || third.isDone() || fourth.isDone());
            assertEquals(2, futures.size(), "both calls that maxConcurrent allows are carried out");
            futures.take().complete(3);
            futures.take().complete(4);
            assertEquals(7, third.join() + fourth.join());
        }
    }

    @Test
    void shouldCarryOutAsManyCallsAsBeforeAfterMaxConcurrentHasRefusedSome() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT)) {
            Two two = world.of(1).service(0, Two.class);
            for (int round = 0; round < 2; round++) {
                CompletableFuture<Integer> first = two.future();
                CompletableFuture<Integer> second = two.future();
                World.await(() -> futures.size() == 2 || first.isDone() || second.isDone());
                assertEquals(2, futures.size(), "both calls that maxConcurrent allows are carried out");
                for (int i = 0; i < 5; i++) {
                    String bound = failureOf(two.future()).getMessage();
                    assertTrue(bound.contains("maxConcurrent"), bound);
                }
                futures.take().complete(1);
                futures.take().complete(2);
                assertEquals(3, first.join() + second.join());
                World.await(() -> world.of(0).runningCount() == 0);
            }
        }
    }

    @Test
    void shouldCancelTheFutureOfACallThatIsGivenUp() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT)) {
            CompletableFuture<Integer> call = world.of(1).service(0, Any.class).future();
            CompletableFuture<Integer> there = futures.take();
            World.await(() -> world.of(0).runningCount() == 1);
            assertTrue(call.cancel(true));
            World.await(there::isCancelled);
            World.await(() -> world.of(0).runningCount() == 0);
        }
    }

    /** The caller may be stuck, or its notice on a way that is lost. */
    @Test
    @Tag("measures")
    void shouldCancelFuturesAndStreamsAtTheirDeadlineThoughTheCallerDoesNotSaySo() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT)) {
            Codecs codecs = world.of(1).codecs();
            for (ServiceMethod method : ServiceMethod.all(Any.class, codecs, 1).values()) {
                if (method.method().getName().equals("future")
                        || method.method().getName().equals("stream")) {
                    world.of(1)
                            .node()
                            .send(
                                    0,
                                    Calls.CALL,
                                    new Arguments()
                                            .putLong(1_000 + method.id())
                                            .putInt(RequestLayout.endpointId(Any.class.getName()))
                                            .putLong(method.id())
                                            .putLong(TimeUnit.MILLISECONDS.toNanos(100)));
                }
            }
            CompletableFuture<Integer> there = futures.take();
            assertTrue(streams.take().get(20, TimeUnit.SECONDS));
            World.await(there::isCancelled);
            World.await(() -> world.of(0).runningCount() == 0);
        }
    }

    /** A timer of the JDK's, for instance, which others need. */
    @Test
    @Tag("measures")
    void shouldNotHaveWhoCompletesAFutureWaitForACallerThatTakesNothing() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        AtomicInteger sent = new AtomicInteger();
        try (World world = world(2, ContextOptions.DEFAULT)) {
            world.of(1).endpoint("slow").nonThreaded("blocks", (_, _) -> {
                blocked.countDown();
                go.await(20, TimeUnit.SECONDS);
            });
            CompletableFuture<Integer> call = world.of(1).service(0, Any.class).future();
            CompletableFuture<Integer> there = futures.take();
            World.await(() -> world.of(0).runningCount() == 1);
            Startpoint slow = world.of(0).startpoint(1, "slow");
            slow.rsr("blocks", new Arguments());
            blocked.await();
            Thread flood = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 100; i++) {
                    slow.rsr("blocks", new Arguments().putBytes(new byte[1 << 20]));
                    sent.incrementAndGet();
                }
            });
            for (int before = -1; before != sent.get(); ) { // until nothing goes any more
                before = sent.get();
                Thread.sleep(300);
            }
            long startNs = System.nanoTime();
            there.complete(7);
            assertTrue(System.nanoTime() - startNs < 5_000_000_000L, "it waited for the caller");
            assertTrue(go.getCount() > 0 && flood.isAlive(), "the caller was not stuck");
            go.countDown();
            flood.join();
            assertEquals(7, call.join());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldCarryOutOrRefuseEveryCallWhileItCloses(String network) throws Exception {
        try (World world = new World(network, 2, context -> context.export(Any.class, new Implementation(context)))) {
            Any any = world.of(1).service(0, Any.class);
            AtomicInteger answered = new AtomicInteger();
            List<CompletableFuture<Throwable>> ends = IntStream.range(0, 50)
                    .mapToObj(_ -> {
                        CompletableFuture<Throwable> end = new CompletableFuture<>();
                        Thread.startVirtualThread(() -> {
                            try {
                                while (true) {
                                    any.work(2);
                                    answered.incrementAndGet();
                                }
                            } catch (Throwable e) {
                                end.complete(e);
                            }
                        });
                        return end;
                    })
                    .toList();
            CompletableFuture<Integer> late = any.future();
            CompletableFuture<Integer> there = futures.take();
            World.await(() -> answered.get() > 200);
            Thread.startVirtualThread(() -> {
                World.await(() -> world.of(0).node().refusesRequests());
                there.completeOnTimeout(9, 50, TimeUnit.MILLISECONDS);
            });
            world.of(0).close();
            for (CompletableFuture<Throwable> each : ends) {
                Throwable end = each.get(20, TimeUnit.SECONDS);
                UnavailableException why = assertInstanceOf(UnavailableException.class, end, end::toString);
                assertTrue(why.getMessage().contains("has not been carried out"), why::getMessage);
            }
            assertEquals(9, late.join());
            assertEquals(runs.get(), answered.get(), "calls that ran have an answer, the others have not run");
        }
    }

    @Test
    void shouldInterruptAtItsCloseWhatDoesNotEndAndAnswerForWhatGoesOn() throws Exception {
        ContextOptions options = ContextOptions.DEFAULT.withCloseTimeout(Duration.ofMillis(100));
        try (World world = world(3, options)) {
            Any any = world.of(1).service(0, Any.class);
            CompletableFuture<Integer> future = any.future();
            CompletableFuture<?> stream = Publishers.toList(any.stream());
            CompletableFuture<Integer> deaf = any.deaf();
            World.await(() -> runs.get() == 1 && futures.size() == 1 && streams.size() == 1);
            world.of(0).close();
            for (CompletableFuture<?> each : List.of(future, stream, deaf)) {
                RemoteException why = assertInstanceOf(RemoteException.class, failureOf(each));
                assertTrue(why.getMessage().contains("interrupted after it had begun"), why::getMessage);
            }
            assertTrue(futures.take().isCancelled());
            assertTrue(streams.take().get(20, TimeUnit.SECONDS));
            go.countDown();
        }
    }

    @Test
    void shouldSayAfterItsOwnCloseThatItIsClosed() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT)) {
            Any any = world.of(1).service(0, Any.class);
            CompletableFuture<Integer> own = any.future();
            CompletableFuture<Integer> there = futures.take();
            world.of(1).close();
            CallException givenUp = assertInstanceOf(CallException.class, failureOf(own));
            assertEquals(ErrorCode.CANCELLED, givenUp.code());
            assertTrue(givenUp.getMessage().contains("the context of rank 1, which has made it, is closed"));
            World.await(there::isCancelled);
            UnavailableException later = assertThrows(UnavailableException.class, () -> any.work(1));
            assertTrue(later.getMessage().contains("the context of rank 1, which makes it, is closed"));
            NexusException none = assertThrows(
                    NexusException.class,
                    () -> world.of(1).startpoint(0, "none").rsr("any", new Arguments()));
            assertTrue(none.getMessage().contains("the context of rank 1 is closed"), none::getMessage);
        }
    }

    @Test
    void shouldLetWhatIsBeingCarriedOutCallOthersWhileItCloses() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT)) {
            CompletableFuture<Integer> call = world.of(1).service(0, Any.class).callsBack(1);
            World.await(() -> runs.get() == 1);
            Thread.startVirtualThread(() -> {
                World.await(() -> world.of(0).node().refusesRequests());
                go.countDown();
            });
            world.of(0).close();
            assertEquals(2, call.get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldCloseCompletelyWhenTheClosingThreadIsInterrupted() throws Exception {
        try (World world = world(2, ContextOptions.DEFAULT.withCloseTimeout(Duration.ofSeconds(30)))) {
            Context closing = world.of(0);
            Any any = world.of(1).service(0, Any.class);
            CompletableFuture<Integer> unanswered = any.future();
            CompletableFuture<Integer> there = futures.take();
            CompletableFuture<Boolean> staysInterrupted = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                Thread.currentThread().interrupt();
                try {
                    closing.close();
                    staysInterrupted.completeExceptionally(new AssertionError("it was not interrupted"));
                } catch (WaitInterruptedException _) {
                    staysInterrupted.complete(Thread.interrupted());
                }
            });
            assertTrue(staysInterrupted.get(20, TimeUnit.SECONDS));
            assertInstanceOf(RemoteException.class, failureOf(unanswered));
            assertTrue(there.isCancelled());
            assertThrows(UnavailableException.class, () -> any.work(1)); // the goodbye has come
            Context.open(closing.node().session()).close(); // nobody uses the channel
        }
    }
}
