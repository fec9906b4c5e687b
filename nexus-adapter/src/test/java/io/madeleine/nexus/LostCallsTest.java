package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.nexus.wire.BulkSource;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The loss or the close of one peer ends the calls to it, and those that it has made, and no others. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LostCallsTest {
    @RemoteService
    interface Waits {
        CompletableFuture<Integer> future();

        int blocks() throws InterruptedException;

        CompletableFuture<Integer> count(Flow.Publisher<Integer> numbers);

        CompletableFuture<byte[]> bytes();
    }

    private static final ContextOptions OPTIONS = ContextOptions.DEFAULT.withCloseTimeout(Duration.ofMillis(100));

    private final BlockingQueue<CompletableFuture<Integer>> there = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> ends = new LinkedBlockingQueue<>();

    private final class Implementation implements Waits {
        @Override
        public CompletableFuture<Integer> future() {
            CompletableFuture<Integer> future = new CompletableFuture<>();
            there.add(future);
            return future;
        }

        @Override
        public int blocks() throws InterruptedException {
            there.add(new CompletableFuture<>());
            Thread.sleep(600_000);
            return 0;
        }

        @Override
        public CompletableFuture<Integer> count(Flow.Publisher<Integer> numbers) {
            Publishers.toList(numbers).whenComplete((_, thrown) -> ends.add(thrown));
            return future();
        }

        @Override
        public CompletableFuture<byte[]> bytes() {
            return new CompletableFuture<>();
        }
    }

    private World world(int size) {
        return new World("sci", size, OPTIONS, context -> context.export(Waits.class, new Implementation()));
    }

    /** Of a stream that never has an item. */
    private static void begin(Flow.Subscriber<? super Integer> subscriber) {
        subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long count) {}

            @Override
            public void cancel() {}
        });
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return assertThrows(
                        CompletionException.class,
                        () -> future.orTimeout(20, TimeUnit.SECONDS).join())
                .getCause();
    }

    private CompletableFuture<Integer> there() throws InterruptedException {
        CompletableFuture<Integer> next = there.poll(20, TimeUnit.SECONDS);
        assertTrue(next != null, "no call has come");
        return next;
    }

    private static CompletableFuture<Void> start(Runnable action) {
        return CompletableFuture.runAsync(
                action, task -> Thread.ofPlatform().daemon().start(task));
    }

    @Test
    void shouldFailTheCallsToAPeerThatIsLostAndNoOthers() throws Exception {
        try (World world = world(3)) {
            CompletableFuture<Integer> other =
                    world.of(1).service(2, Waits.class).future();
            CompletableFuture<Integer> otherThere = there();
            CompletableFuture<Integer> lost =
                    world.of(1).service(0, Waits.class).future();
            there();
            CompletableFuture<Void> blocked = start(() -> assertThrows(
                    PeerFailedException.class,
                    () -> world.of(1).service(0, Waits.class).blocks()));
            there();
            assertEquals(3, world.of(1).outstandingCount());
            world.die(0);
            PeerFailedException why = assertInstanceOf(PeerFailedException.class, failureOf(lost));
            assertEquals(0, why.rank());
            blocked.get(20, TimeUnit.SECONDS);
            World.await(() -> world.of(1).outstandingCount() == 1);
            assertFalse(other.isDone());
            otherThere.complete(7);
            assertEquals(7, other.get(20, TimeUnit.SECONDS));
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    /** The large parts of an answer come behind its beginning. */
    @Test
    void shouldFailTheCallWhoseAnswerIsCutOff() {
        try (World world = world(2)) {
            Context caller = world.of(0);
            CompletableFuture<byte[]> bytes = caller.service(1, Waits.class).bytes();
            PendingCall call =
                    Objects.requireNonNull(caller.calls().find(caller.calls().lastId()));
            Arguments answer = new Arguments().putLong(call.id()).putByte(Answers.Status.VALUE);
            call.method().writeResult(answer, new byte[5_000]);
            Bytes small = Bytes.of(ArgumentCopies.inline(answer));
            Request cutOff = new Request(caller.node());
            cutOff.begin(small, 0, small.size(), 1, 1, new BulkSource() {
                @Override
                public void take(MemorySegment target, long offset, long length) {
                    throw new PeerFailedException(1, "rank 1 is gone in the middle");
                }

                @Override
                public void close() {}
            });
            caller.node().inbound().receive(cutOff, RequestLayout.SYSTEM_ENDPOINT, InboundCalls.REPLY);
            PeerFailedException why = assertInstanceOf(PeerFailedException.class, failureOf(bytes));
            assertEquals(1, why.rank());
            assertTrue(why.getMessage().contains("in the middle"), why::getMessage);
        }
    }

    @Test
    void shouldCancelTheCallsOfACallerThatIsLostAndNoOthers() throws Exception {
        try (World world = world(3)) {
            CompletableFuture<Integer> other =
                    world.of(2).service(0, Waits.class).future();
            CompletableFuture<Integer> otherThere = there();
            CompletableFuture<Integer> _ = world.of(1).service(0, Waits.class).count(LostCallsTest::begin);
            CompletableFuture<Integer> lostThere = there();
            World.await(() -> world.of(0).runningCount() == 2);
            world.die(1);
            world.of(0).node().nodes().get(1).lostBySession("it is dead"); // as a session says
            World.await(lostThere::isCancelled);
            Throwable end =
                    Objects.requireNonNull(ends.poll(20, TimeUnit.SECONDS)).getCause();
            PeerFailedException why = assertInstanceOf(PeerFailedException.class, end);
            assertTrue(why.getMessage().contains("the caller of "), why::getMessage);
            World.await(() -> world.of(0).runningCount() == 1);
            assertFalse(otherThere.isDone());
            otherThere.complete(7);
            assertEquals(7, other.get(20, TimeUnit.SECONDS));
            World.await(() -> world.of(0).runningCount() == 0);
        }
    }

    @Test
    void shouldFailTheCallsToAPeerThatClosesAndNoOthers() throws Exception {
        try (World world = world(3)) {
            CompletableFuture<Integer> other =
                    world.of(1).service(2, Waits.class).future();
            CompletableFuture<Integer> otherThere = there();
            CompletableFuture<Integer> closed =
                    world.of(1).service(0, Waits.class).future();
            there();
            world.of(0).close();
            String why = String.valueOf(failureOf(closed).getMessage());
            assertTrue(why.contains("interrupted after it had begun"), why);
            World.await(() -> world.of(1).outstandingCount() == 1);
            assertFalse(other.isDone());
            otherThere.complete(7);
            assertEquals(7, other.get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldGiveUpACallWhoseThreadIsInterrupted() throws Exception {
        try (World world = world(2)) {
            List<Throwable> seen = new ArrayList<>();
            CompletableFuture<Boolean> stays = new CompletableFuture<>();
            Thread caller = Thread.ofPlatform().daemon().start(() -> {
                try {
                    world.of(1).service(0, Waits.class).blocks();
                } catch (Throwable e) {
                    seen.add(e);
                }
                stays.complete(Thread.currentThread().isInterrupted());
            });
            there();
            caller.interrupt();
            assertTrue(stays.get(20, TimeUnit.SECONDS));
            assertInstanceOf(WaitInterruptedException.class, seen.getFirst());
            assertEquals(0, world.of(1).outstandingCount());
            World.await(() -> world.of(0).runningCount() == 0); // it hears of that
        }
    }
}
