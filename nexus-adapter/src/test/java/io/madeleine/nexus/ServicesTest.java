package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import java.io.FileNotFoundException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Typed services, over each network. */
@ParameterizedClass
@ValueSource(strings = {"sci", "tcp"})
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServicesTest {
    @Parameter
    String network;

    record Point(int x, double y, String name, List<Point> neighbours) {}

    enum Colour {
        RED,
        GREEN
    }

    @RemoteService
    interface Everything {
        int add(int a, long b);

        void nothing();

        Point mirror(Point point);

        Map<String, List<Colour>> collect(Set<Colour> colours, Optional<String> name, String absent);

        byte[] reverse(byte[] bytes);

        CompletableFuture<String> later(String text, int millis);

        void fails(String how) throws FileNotFoundException;

        int rank();

        long remainingMillis();

        @CallTimeout(millis = 200)
        long slow(long millis) throws InterruptedException;

        @CallTimeout(millis = 5_000)
        long forwardsTo(int rank, long millis);

        Flow.Publisher<Integer> count(int to);

        CompletableFuture<Long> waits(long millis);

        default int addTwice(int a, int b) {
            return add(add(a, b), b);
        }
    }

    /** What the implementation does, and what happened to it. */
    static final class Implementation implements Everything {
        final Context context;
        final AtomicInteger begun = new AtomicInteger();
        final AtomicInteger interrupted = new AtomicInteger();
        final AtomicLong published = new AtomicLong();
        final AtomicBoolean cancelled = new AtomicBoolean();
        final CountDownLatch forever = new CountDownLatch(1);

        Implementation(Context context) {
            this.context = context;
        }

        @Override
        public int add(int a, long b) {
            return (int) (a + b);
        }

        @Override
        public void nothing() {}

        @Override
        public Point mirror(Point point) {
            return new Point(-point.x(), -point.y(), point.name(), point.neighbours());
        }

        @Override
        public Map<String, List<Colour>> collect(Set<Colour> colours, Optional<String> name, String absent) {
            return Map.of(name.orElse("none") + absent, List.copyOf(colours));
        }

        @Override
        public byte[] reverse(byte[] bytes) {
            byte[] reversed = new byte[bytes.length];
            for (int i = 0; i < bytes.length; i++) {
                reversed[i] = bytes[bytes.length - 1 - i];
            }
            return reversed;
        }

        @Override
        public CompletableFuture<String> later(String text, int millis) {
            return CompletableFuture.supplyAsync(
                    () -> text + "!", CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
        }

        @Override
        public void fails(String how) throws FileNotFoundException {
            switch (how) {
                case "declared" -> throw new FileNotFoundException("no such file");
                case "unchecked" -> throw new IllegalStateException("outer", new IllegalArgumentException("inner"));
                default -> throw new AssertionError("error");
            }
        }

        @Override
        public int rank() {
            return context.rank();
        }

        @Override
        public long remainingMillis() {
            return RemoteCall.current().orElseThrow().remainingNs() / 1_000_000;
        }

        @Override
        public long slow(long millis) throws InterruptedException {
            begun.incrementAndGet();
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
                throw e;
            }
            return millis;
        }

        @Override
        public long forwardsTo(int rank, long millis) {
            Everything next = context.service(rank, Everything.class);
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return next.remainingMillis();
        }

        @Override
        public Flow.Publisher<Integer> count(int to) {
            if (to < 0) {
                return Publishers.of(() -> {
                    throw new IllegalArgumentException("below zero");
                });
            }
            return Publishers.of(() -> IntStream.range(0, to)
                    .peek(_ -> published.incrementAndGet())
                    .iterator());
        }

        @Override
        public CompletableFuture<Long> waits(long millis) {
            begun.incrementAndGet();
            try {
                assertTrue(forever.await(millis, TimeUnit.MILLISECONDS) || true);
            } catch (InterruptedException e) {
                cancelled.set(RemoteCall.current().orElseThrow().isCancelled());
                interrupted.incrementAndGet();
            }
            return CompletableFuture.completedFuture(millis);
        }
    }

    private final Implementation[] implementations = new Implementation[3];

    private World world(int size) {
        return new World(network, size, context -> {
            implementations[context.rank()] = new Implementation(context);
            context.export(Everything.class, implementations[context.rank()]);
        });
    }

    /** Looks again now and then: a handler that still runs signals nobody. */
    private static void await(Context context, java.util.function.BooleanSupplier condition) {
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (!context.await(condition, 2, TimeUnit.MILLISECONDS)) {
            assertTrue(System.nanoTime() - giveUpNs < 0, "not in time");
        }
    }

    @Test
    void shouldCarryValuesOfAllKinds() throws Exception {
        try (World world = world(2)) {
            for (int target = 0; target < 2; target++) { // also of one's own process
                Everything remote = world.of(1).service(target, Everything.class);
                assertEquals(target, remote.rank());
                assertEquals(7, remote.add(3, 4));
                assertEquals(11, remote.addTwice(3, 4));
                remote.nothing();
                Point point = new Point(1, 2.5, "ä", List.of(new Point(3, 4, "n", List.of())));
                assertEquals(new Point(-1, -2.5, "ä", point.neighbours()), remote.mirror(point));
                assertEquals(-1, remote.mirror(new Point(1, 1, null, null)).x());
                assertEquals(
                        Map.of("xnull", List.of(Colour.GREEN)),
                        remote.collect(Set.of(Colour.GREEN), Optional.of("x"), null));
                byte[] large = new byte[1_000_001];
                large[0] = 1;
                byte[] reversed = remote.reverse(large);
                assertEquals(1, reversed[1_000_000]);
                assertArrayEquals(large, remote.reverse(reversed));
                assertEquals("soon!", remote.later("soon", 10).get(10, TimeUnit.SECONDS));
                assertNull(remote.mirror(new Point(1, 1, null, null)).name());
                assertEquals(remote, world.of(1).service(target, Everything.class));
            }
        }
    }

    @Test
    void shouldMakeManyCallsAtOnceFromBothKindsOfThreads() throws Exception {
        try (World world = world(2)) {
            Everything remote = world.of(1).service(0, Everything.class);
            AtomicInteger right = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 40; t++) {
                int own = t;
                Runnable calls = () -> {
                    for (int i = 0; i < 50; i++) {
                        if (remote.add(own, i) == own + i) {
                            right.incrementAndGet();
                        }
                    }
                };
                threads.add(
                        t % 2 == 0
                                ? Thread.ofVirtual().start(calls)
                                : Thread.ofPlatform().start(calls));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(2_000, right.get());
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    @Test
    void shouldBringExceptionsWithTypeAndRemoteStack() {
        try (World world = world(2)) {
            Everything remote = world.of(1).service(0, Everything.class);
            FileNotFoundException declared = assertThrows(FileNotFoundException.class, () -> remote.fails("declared"));
            assertEquals("no such file", declared.getMessage());
            RemoteException there = assertInstanceOf(RemoteException.class, declared.getCause());
            assertEquals(0, there.rank());
            RemoteException unchecked = assertThrows(RemoteException.class, () -> remote.fails("unchecked"));
            assertEquals("java.lang.IllegalStateException", unchecked.remoteType());
            assertEquals("outer", unchecked.getMessage());
            assertEquals("java.lang.IllegalArgumentException", ((RemoteException) unchecked.getCause()).remoteType());
            assertEquals("fails", unchecked.getStackTrace()[0].getMethodName());
            assertTrue(Arrays.stream(unchecked.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().contains("shouldBringExceptions")));
            assertEquals(
                    "java.lang.AssertionError",
                    assertThrows(RemoteException.class, () -> remote.fails("error"))
                            .remoteType());
        }
    }

    @Test
    @Tag("measures")
    void shouldEndCallsAtTheirDeadlineAndInterruptWhatTheyRun() {
        try (World world = world(2)) {
            Everything remote = world.of(1).service(0, Everything.class);
            AtomicInteger begun = implementations[0].begun;
            for (int i = 0; begun.get() == 0; i++) { // a call that gets there after its deadline does not begin
                assertTrue(i < 50, "no call has begun");
                long startNs = System.nanoTime();
                DeadlineExceededException late =
                        assertThrows(DeadlineExceededException.class, () -> remote.slow(10_000));
                assertTrue(String.valueOf(late.getMessage()).contains("within 200 ms"), late::toString);
                long tookMs = (System.nanoTime() - startNs) / 1_000_000;
                assertTrue(tookMs >= 200 && tookMs < 9_000, tookMs + " ms");
            }
            await(world.of(0), () -> implementations[0].interrupted.get() == begun.get());
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    @Test
    void shouldPropagateDeadlines() {
        try (World world = world(3)) {
            Everything remote = world.of(2).service(0, Everything.class);
            long left = remote.forwardsTo(1, 100);
            assertTrue(left > 0 && left <= 4_900, left + " ms");
        }
    }

    @Test
    void shouldCancelRemoteCallWithFuture() {
        try (World world = world(2)) {
            CompletableFuture<Long> future =
                    world.of(1).service(0, Everything.class).waits(20_000);
            await(world.of(0), () -> implementations[0].begun.get() == 1);
            assertTrue(future.cancel(true));
            await(world.of(0), () -> implementations[0].interrupted.get() == 1);
            assertTrue(implementations[0].cancelled.get());
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    @Test
    void shouldStreamNoFasterThanAskedFor() throws Exception {
        try (World world = world(2)) {
            Everything remote = world.of(1).service(0, Everything.class);
            assertEquals(
                    IntStream.range(0, 10_000).boxed().toList(),
                    Publishers.toList(remote.count(10_000)).get(20, TimeUnit.SECONDS));
            assertEquals(List.of(), Publishers.toList(remote.count(0)).get(20, TimeUnit.SECONDS));
            ExecutionException failed = assertThrows(
                    ExecutionException.class,
                    () -> Publishers.toList(remote.count(-1)).get(20, TimeUnit.SECONDS));
            assertInstanceOf(RemoteException.class, failed.getCause());
            implementations[0].published.set(0);
            Semaphore permits = new Semaphore(0);
            AtomicInteger taken = new AtomicInteger();
            CompletableFuture<Void> slow = Publishers.forEach(remote.count(1_000_000), 10, _ -> {
                permits.acquireUninterruptibly();
                taken.incrementAndGet();
            });
            await(world.of(1), () -> implementations[0].published.get() >= 10);
            Thread.sleep(200); // more would come now
            long ahead = implementations[0].published.get();
            assertTrue(ahead <= 11, ahead + " were published for a window of 10");
            permits.release(100);
            await(world.of(1), () -> taken.get() == 100);
            assertTrue(slow.cancel(true));
            permits.release(1_000);
            await(world.of(1), () -> world.of(1).outstandingCount() == 0);
        }
    }

    @Test
    @Tag("measures")
    void shouldFailCallsOfPeerThatDiesWhileOthersGoOn() throws Exception {
        try (World world = world(3)) {
            Everything doomed = world.of(1).service(0, Everything.class);
            Everything other = world.of(1).service(2, Everything.class);
            List<CompletableFuture<Long>> open = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                open.add(doomed.waits(20_000));
            }
            CompletableFuture<Long> good = other.waits(1_500);
            await(world.of(0), () -> world.of(0).runningCount() == 20);
            long startNs = System.nanoTime();
            world.die(0);
            for (CompletableFuture<Long> call : open) {
                CompletionException ended = assertThrows(CompletionException.class, call::join);
                assertInstanceOf(PeerFailedException.class, ended.getCause());
            }
            assertTrue(System.nanoTime() - startNs < 5_000_000_000L);
            assertThrows(PeerFailedException.class, () -> doomed.add(1, 2));
            assertEquals(1_500, good.get(20, TimeUnit.SECONDS));
            assertEquals(3, other.add(1, 2));
        }
    }

    @RemoteService
    interface Absent {
        int number();
    }

    @Test
    void shouldSayWhichServiceIsNotThere() {
        try (World world = world(2)) {
            NexusException none = assertThrows(
                    NexusException.class,
                    () -> world.of(1).service(0, Absent.class).number());
            assertEquals(
                    "the call of Absent.number: rank 0 serves nothing at this endpoint: export the service in the setup"
                            + " of its context",
                    none.getMessage());
            world.of(0).endpoint(Absent.class.getName()).serve(Doubled.class, number -> 2 * number);
            NexusException other = assertThrows(
                    NexusException.class,
                    () -> world.of(1).service(0, Absent.class).number());
            assertTrue(
                    String.valueOf(other.getMessage()).contains("both sides need the same interface"), other::toString);
        }
    }

    @RemoteService
    interface Doubled {
        int twice(int number);
    }

    @Test
    void shouldRejectInterfacesThatCannotTravel() {
        @RemoteService
        interface Bad {
            Thread thread();
        }
        try (World world = world(2)) {
            IllegalArgumentException no = assertThrows(
                    IllegalArgumentException.class, () -> world.of(0).service(1, Bad.class));
            assertTrue(no.getMessage().contains("java.lang.Thread"), no.getMessage());
            assertThrows(IllegalArgumentException.class, () -> world.of(0).service(1, Runnable.class));
        }
    }

    @Test
    void shouldRejectBoundsThatAreNone() {
        @RemoteService
        interface NoTime {
            @CallTimeout(millis = 0)
            int number();
        }
        @RemoteService
        interface NoAttempt {
            @Idempotent(attempts = 0)
            int number();
        }
        try (World world = world(2)) {
            for (Class<?> bad : List.of(NoTime.class, NoAttempt.class)) {
                IllegalArgumentException no = assertThrows(
                        IllegalArgumentException.class, () -> world.of(0).service(1, bad));
                assertTrue(no.getMessage().contains("is 0, expected at least 1"), no.getMessage());
            }
            IllegalArgumentException no = assertThrows(
                    IllegalArgumentException.class, () -> world.of(0).export(Less.class, () -> 1));
            assertTrue(no.getMessage().contains("maxConcurrent is -1"), no.getMessage());
        }
        ContextOptions options = ContextOptions.DEFAULT;
        for (Duration timeout : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
            IllegalArgumentException no =
                    assertThrows(IllegalArgumentException.class, () -> options.withCallTimeout(timeout));
            assertTrue(no.getMessage().contains("ContextOptions.callTimeout is " + timeout), no.getMessage());
        }
    }

    @RemoteService(maxConcurrent = -1)
    interface Less {
        int number();
    }

    @RemoteService
    interface Patient {
        @CallTimeout(millis = Long.MAX_VALUE)
        int number();
    }

    @Test
    void shouldCallWithATimeoutAsLongAsThereIs() {
        try (World world = world(2)) {
            world.of(0).export(Patient.class, () -> 7);
            assertEquals(7, world.of(1).service(0, Patient.class).number());
        }
    }
}
