package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bounds hold, and who goes beyond is told; draining. The tests' heap is small (see the pom). */
@ParameterizedClass
@ValueSource(strings = {"sci", "tcp"})
@Timeout(value = 90, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OverloadTest {
    @Parameter
    String network;

    @RemoteService(maxConcurrent = 5)
    interface Slow {
        CompletableFuture<Integer> once(int number);

        @Idempotent(attempts = 12)
        CompletableFuture<Integer> untilItWorks(int number);
    }

    /** Looks again now and then: a handler that still runs signals nobody. */
    private static void await(Context context, java.util.function.BooleanSupplier condition) {
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!context.await(condition, 2, TimeUnit.MILLISECONDS)) {
            assertTrue(System.nanoTime() - giveUpNs < 0, "not in time");
        }
    }

    @Test
    void shouldRefuseMostOfManyRequestsAtSlowServerAndStayWithinItsHeap() {
        int count = network.equals("sci") ? 1_000_000 : 100_000;
        AtomicInteger done = new AtomicInteger();
        AtomicInteger mostAtOnce = new AtomicInteger();
        AtomicInteger now = new AtomicInteger();
        ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(50);
        try (World world = new World(
                network,
                2,
                options,
                context -> context.endpoint("slow").threaded("work", (_, _) -> {
                    mostAtOnce.accumulateAndGet(now.incrementAndGet(), Math::max);
                    Thread.sleep(5);
                    now.decrementAndGet();
                    done.incrementAndGet();
                }))) {
            AtomicLong told = new AtomicLong();
            AtomicReference<Refusal> last = new AtomicReference<>();
            world.of(1).onRefusal(refusal -> {
                last.set(refusal);
                told.addAndGet(refusal.count());
            });
            Startpoint slow = world.of(1).startpoint(0, "slow");
            Arguments arguments = new Arguments();
            for (int i = 0; i < count; i++) {
                slow.rsr("work", arguments.reset().putInt(i));
            }
            await(world.of(1), () -> done.get() + told.get() == count);
            assertTrue(done.get() >= 50, done + " were carried out");
            assertTrue(mostAtOnce.get() <= 50, mostAtOnce + " at once");
            assertEquals(Refusal.Reason.OVERLOADED, last.get().reason());
            assertEquals(told.get(), world.of(1).refusedCount());
        }
    }

    @Test
    void shouldRejectCallsBeyondBoundOfServiceAndRepeatOnlyIdempotentOnes() {
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        Slow implementation = new Slow() {
            @Override
            public CompletableFuture<Integer> once(int number) {
                runs.incrementAndGet();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return CompletableFuture.completedFuture(number);
            }

            @Override
            public CompletableFuture<Integer> untilItWorks(int number) {
                return CompletableFuture.completedFuture(-number);
            }
        };
        try (World world = new World(network, 2, context -> context.export(Slow.class, implementation))) {
            Slow slow = world.of(1).service(0, Slow.class);
            List<CompletableFuture<Integer>> first = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                first.add(slow.once(i));
            }
            await(world.of(0), () -> runs.get() == 5);
            CompletionException rejected =
                    assertThrows(CompletionException.class, () -> slow.once(5).join());
            OverloadedException why = assertInstanceOf(OverloadedException.class, rejected.getCause());
            assertTrue(why.getMessage().contains("maxConcurrent"), why.getMessage());
            CompletableFuture<Integer> patient = slow.untilItWorks(6);
            assertTrue(world.of(1).await(() -> !patient.isDone(), 20, TimeUnit.MILLISECONDS));
            go.countDown();
            assertEquals(-6, patient.join());
            assertEquals(10, first.stream().mapToInt(CompletableFuture::join).sum());
            assertEquals(5, runs.get());
        }
    }

    @Test
    void shouldMakeCallersWaitForTheirTurnBeyondOutstandingCalls() {
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger begunBefore = new AtomicInteger();
        Slow implementation = new Slow() {
            @Override
            public CompletableFuture<Integer> once(int number) {
                begun.incrementAndGet();
                return CompletableFuture.supplyAsync(
                        () -> number,
                        task -> Thread.startVirtualThread(() -> {
                            try {
                                go.await();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                            task.run();
                        }));
            }

            @Override
            public CompletableFuture<Integer> untilItWorks(int number) {
                return CompletableFuture.completedFuture(number);
            }
        };
        ContextOptions options = ContextOptions.DEFAULT.withMaxOutstanding(3);
        try (World world = new World(network, 2, options, context -> context.export(Slow.class, implementation))) {
            Slow slow = world.of(1).service(0, Slow.class);
            List<CompletableFuture<Integer>> open = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                open.add(slow.once(i));
            }
            assertEquals(3, world.of(1).outstandingCount());
            World.await(() -> begun.get() == 3);
            Thread.ofVirtual().start(() -> {
                try {
                    Thread.sleep(100);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                begunBefore.set(begun.get());
                go.countDown();
            });
            assertEquals(7, slow.once(7).join()); // when one of the others is answered
            open.forEach(CompletableFuture::join);
            assertEquals(3, begunBefore.get());
            await(world.of(1), () -> world.of(1).outstandingCount() == 0);
        }
    }

    @Test
    void shouldRunThreadedHandlersInBoundedExecutorIfAsked() {
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        AtomicReference<String> name = new AtomicReference<>("");
        try (ExecutorService two = new ThreadPoolExecutor(
                2,
                2,
                1,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(10),
                Thread.ofPlatform().name("mine").factory())) {
            ContextOptions options = ContextOptions.DEFAULT.withExecutor(two);
            try (World world = new World(
                    network,
                    2,
                    options,
                    context -> context.endpoint("e").threaded("t", (_, _) -> {
                        name.set(Thread.currentThread().getName());
                        go.await();
                        done.incrementAndGet();
                    }))) {
                Startpoint remote = world.of(1).startpoint(0, "e");
                for (int i = 0; i < 100; i++) {
                    remote.rsr("t", new Arguments());
                }
                await(world.of(1), () -> world.of(1).refusedCount() == 88); // two run, and ten are queued
                go.countDown();
                await(world.of(1), () -> done.get() == 12);
                assertEquals("mine", name.get());
            } finally {
                go.countDown();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000, 20_000, 200_000})
    void shouldFailQuicklyInHandlerWhenTooMuchIsQueuedForPeer(int bytes) {
        int count = 20_000_000 / bytes;
        AtomicInteger overloaded = new AtomicInteger();
        AtomicInteger arrived = new AtomicInteger();
        CountDownLatch go = new CountDownLatch(1);
        byte[] ballast = new byte[bytes];
        ContextOptions options = ContextOptions.DEFAULT.withMaxQueuedBytes(100_000);
        try (World world = new World(
                network,
                2,
                options,
                context -> context.endpoint("e")
                        .nonThreaded("flood", (endpoint, request) -> {
                            for (int i = 0; i < count; i++) {
                                try {
                                    request.context()
                                            .startpoint(request.remote(), "e")
                                            .rsr("drop", new Arguments().putBytes(ballast));
                                } catch (OverloadedException e) {
                                    overloaded.incrementAndGet();
                                }
                            }
                        })
                        .nonThreaded("drop", (_, _) -> {
                            go.await(); // against the rules: this process takes nothing meanwhile
                            arrived.incrementAndGet();
                        }))) {
            world.of(1).startpoint(0, "e").rsr("flood", new Arguments());
            await(world.of(0), () -> overloaded.get() > 0);
            go.countDown();
            await(world.of(1), () -> arrived.get() + overloaded.get() == count);
        }
    }

    @Test
    void shouldDrainWhatRunsAndRefuseWhatComes() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("e").threaded("t", (_, _) -> {
                    go.await();
                    done.incrementAndGet();
                }))) {
            Startpoint remote = world.of(1).startpoint(0, "e");
            remote.rsr("t", new Arguments());
            await(world.of(0), () -> world.of(0).runningCount() == 1);
            assertTrue(!world.of(0).drain(Duration.ofMillis(50)));
            remote.rsr("t", new Arguments());
            await(world.of(1), () -> world.of(1).refusedCount() == 1);
            go.countDown();
            assertTrue(world.of(0).drain(Duration.ofSeconds(10)));
            assertEquals(1, done.get());
            world.of(0).close();
            await(world.of(1), () -> world.of(1).node().nodes().get(0).isGone());
            assertThrows(io.madeleine.api.PeerFailedException.class, () -> remote.rsr("t", new Arguments()));
        }
    }
}
