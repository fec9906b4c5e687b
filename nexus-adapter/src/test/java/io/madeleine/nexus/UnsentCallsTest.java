package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.nexus.wan.WriteQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A call ends at its deadline also while it is still being sent, to one who does not take it. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnsentCallsTest {
    private static final int LARGE = 8_000_000;
    private static final int MOST_FILLINGS = 20;
    private static final String NOT_TAKEN = "rank 0 receives nothing, or too slowly";
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(8);

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch taken = new CountDownLatch(1);

    @RemoteService
    interface Lengths {
        @CallTimeout(millis = 300)
        int atOnce(byte[] bytes);

        @CallTimeout(millis = 20_000)
        int atLeisure(byte[] bytes);
    }

    private static final class Taking implements Lengths {
        @Override
        public int atOnce(byte[] bytes) {
            return bytes.length;
        }

        @Override
        public int atLeisure(byte[] bytes) {
            return bytes.length;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    @Tag("measures")
    void shouldEndAtItsDeadlineThoughItIsNotTakenAndSoDoesABarrier(String network) throws Exception {
        try (World world = new World(network, 2, context -> {
            context.export(Lengths.class, new Taking());
            addStop(context);
        })) {
            Context caller = world.of(1);
            Lengths lengths = caller.service(0, Lengths.class);
            assertEquals(LARGE, lengths.atLeisure(new byte[LARGE]));
            caller.startpoint(0, "stop").rsr("stop", new Arguments());
            assertTrue(entered.await(20, TimeUnit.SECONDS));
            long startNs = System.nanoTime();
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            for (int i = 0; i < 4; i++) { // one is on its way; the others wait behind it, or are there and are given up
                int bytes = i % 2 == 0 ? LARGE : 100;
                calls.add(CompletableFuture.runAsync(
                        () -> assertThrows(DeadlineExceededException.class, () -> lengths.atOnce(new byte[bytes])),
                        task -> Thread.ofPlatform().start(task)));
            }
            for (CompletableFuture<Void> call : calls) {
                call.get(20, TimeUnit.SECONDS);
            }
            assertTrue(System.nanoTime() - startNs < LONG_NS, "they waited for more than their deadline");
            assertEquals(0, caller.outstandingCount());
            fill(caller, lengths);
            taken.countDown();
            assertEquals(LARGE, lengths.atLeisure(new byte[LARGE]));
            assertEquals(100, lengths.atLeisure(new byte[100]));
        } finally {
            taken.countDown();
        }
    }

    @RemoteService
    interface Streams {
        @CallTimeout(millis = 1_000)
        Flow.Publisher<Integer> numbers();

        @CallTimeout(millis = 1_000)
        CompletableFuture<Integer> sum(Flow.Publisher<Integer> numbers);
    }

    /** The subscription asks for items, which is a message, too. */
    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldEndAStreamAtItsDeadlineThoughWhatItAsksForIsNotTaken(String network) throws Exception {
        try (World world = new World(network, 2, context -> {
            context.export(Lengths.class, new Taking());
            context.export(Streams.class, new Streams() {
                @Override
                public Flow.Publisher<Integer> numbers() {
                    return Publishers.of(List.of(1, 2));
                }

                @Override
                public CompletableFuture<Integer> sum(Flow.Publisher<Integer> numbers) {
                    return Publishers.toList(numbers).thenApply(List::size);
                }
            });
            addStop(context);
        })) {
            Context caller = world.of(1);
            Lengths lengths = caller.service(0, Lengths.class);
            caller.startpoint(0, "stop").rsr("stop", new Arguments());
            assertTrue(entered.await(20, TimeUnit.SECONDS));
            fill(caller, lengths);
            Streams streams = caller.service(0, Streams.class);
            CompletableFuture<List<Integer>> numbers = Publishers.toList(streams.numbers());
            Throwable end = assertThrows(ExecutionException.class, () -> numbers.get(20, TimeUnit.SECONDS))
                    .getCause();
            assertInstanceOf(DeadlineExceededException.class, end);
            taken.countDown();
            assertEquals(List.of(1, 2), Publishers.toList(streams.numbers()).get(20, TimeUnit.SECONDS));
            assertEquals(2, streams.sum(Publishers.of(List.of(1, 2))).get(20, TimeUnit.SECONDS));
        } finally {
            taken.countDown();
        }
    }

    @RemoteService
    interface Blocks {
        @CallTimeout(millis = 1_000)
        CompletableFuture<Integer> count(Flow.Publisher<byte[]> blocks);
    }

    /** The thread that publishes them is the program's. */
    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldLetGoOfThePublisherAtTheDeadlineThoughItsItemsAreNotTaken(String network) throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (World world = new World(network, 2, context -> {
            context.export(Blocks.class, blocks -> Publishers.toList(blocks).thenApply(List::size));
            addStop(context);
        })) {
            Startpoint stop = world.of(1).startpoint(0, "stop");
            CompletableFuture<Integer> count = world.of(1)
                    .service(0, Blocks.class)
                    .count(subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                        private volatile boolean cancelled;

                        @Override
                        public void request(long count) {
                            stop.rsr("stop", new Arguments());
                            // more than all buffers hold: it comes to its end only if it is let go
                            for (int i = 0; i < count && !cancelled; i++) {
                                subscriber.onNext(new byte[LARGE]);
                            }
                            released.countDown();
                        }

                        @Override
                        public void cancel() {
                            cancelled = true;
                        }
                    }));
            assertTrue(entered.await(20, TimeUnit.SECONDS));
            assertThrows(ExecutionException.class, () -> count.get(20, TimeUnit.SECONDS));
            assertTrue(released.await(20, TimeUnit.SECONDS), "the publisher's thread still sends an item");
            taken.countDown(); // else the session does not close before its time-out
        } finally {
            taken.countDown();
        }
    }

    /** Adds a handler that runs until {@link #taken}; nothing else is taken meanwhile. */
    private void addStop(Context context) {
        context.endpoint("stop").nonThreaded("stop", (_, _) -> {
            entered.countDown();
            boolean _ = taken.await(40, TimeUnit.SECONDS);
        });
    }

    /** Sends until not even a short message finds room; a socket's buffers have some. */
    private static void fill(Context caller, Lengths lengths) {
        String late = lateBarrier(caller);
        for (int i = 0; i < MOST_FILLINGS && !late.contains(NOT_TAKEN); i++) {
            assertThrows(DeadlineExceededException.class, () -> lengths.atOnce(new byte[LARGE]));
            late = lateBarrier(caller);
        }
        assertTrue(late.contains(NOT_TAKEN), late);
    }

    private static String lateBarrier(Context caller) {
        return String.valueOf(
                assertThrows(DeadlineExceededException.class, () -> caller.barrier(Duration.ofMillis(200)))
                        .getMessage());
    }

    @Test
    void shouldNotWaitForItsTurnBeyondItsDeadline() throws Exception {
        WriteQueue queue = new WriteQueue(100, 1_000);
        assertTrue(queue.put(new byte[100], false, false, WriteQueue.NO_TIMEOUT));
        assertThrows(DeadlineExceededException.class, () -> queue.put(new byte[1], false, false, 20_000_000));
        assertEquals(100, queue.first(1).length);
        assertNull(queue.next(0));
        queue.written(100);
        assertTrue(queue.put(new byte[1], false, false, 20_000_000));
    }
}
