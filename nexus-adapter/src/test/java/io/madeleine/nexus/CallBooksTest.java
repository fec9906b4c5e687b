package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** However a call ends, the caller's turn, the place among the running requests and that of its service come back. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallBooksTest {
    /** More than any bound below: one place lost each time, and none is left. */
    private static final int TIMES = 4;

    private static final String NOT_UTF8 = "\uD800";

    @RemoteService(name = "books", maxConcurrent = 2)
    interface Books {
        String text(String given, boolean fails);

        CompletableFuture<String> later(String kind);

        Flow.Publisher<String> items(String kind);

        int count(Flow.Publisher<String> items, int enough);

        @CallTimeout(millis = 20)
        int slow() throws InterruptedException;

        @CallTimeout(millis = 20)
        CompletableFuture<String> slowLater();

        @CallTimeout(millis = 20)
        Flow.Publisher<String> slowItems();
    }

    @RemoteService(name = "books", maxConcurrent = 2)
    interface OtherEdition {
        int text(int given, boolean fails);
    }

    @RemoteService
    interface Absent {
        int any();
    }

    private final AtomicReference<CompletableFuture<String>> last = new AtomicReference<>();
    private final CountDownLatch over = new CountDownLatch(1);

    private final class Implementation implements Books {
        @Override
        public String text(String given, boolean fails) {
            if (fails) {
                throw new IllegalStateException(given);
            }
            return given.equals("wrong") ? NOT_UTF8 : given;
        }

        @Override
        public CompletableFuture<String> later(String kind) {
            CompletableFuture<String> future = new CompletableFuture<>();
            switch (kind) {
                case "value" -> future.complete("x");
                case "failure" -> future.completeExceptionally(new IllegalStateException("it fails"));
                case "wrong" -> future.complete(NOT_UTF8);
                default -> last.set(future);
            }
            return future;
        }

        @Override
        public Flow.Publisher<String> items(String kind) {
            return switch (kind) {
                case "value" -> Publishers.of(List.of("a", "b", "c"));
                case "wrong" -> Publishers.of(List.of("a", NOT_UTF8, "c"));
                case "thrown" -> throw new IllegalStateException("no stream");
                default ->
                    subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                        @Override
                        public void request(long count) {
                            if (kind.equals("failure")) {
                                subscriber.onError(new IllegalStateException("it fails"));
                            }
                        }

                        @Override
                        public void cancel() {}
                    });
            };
        }

        @Override
        public int count(Flow.Publisher<String> items, int enough) {
            if (enough == 0) {
                return 0; // without a subscriber
            }
            return Publishers.toList(items).join().size();
        }

        @Override
        public int slow() throws InterruptedException {
            over.await();
            return 0;
        }

        @Override
        public CompletableFuture<String> slowLater() {
            return new CompletableFuture<>();
        }

        @Override
        public Flow.Publisher<String> slowItems() {
            return items("never");
        }
    }

    private interface Way {
        void go() throws Throwable;
    }

    private static void assertFails(Class<? extends Throwable> type, CompletableFuture<?> future) {
        Throwable failure = assertThrows(
                Exception.class, () -> future.orTimeout(20, TimeUnit.SECONDS).join());
        assertInstanceOf(type, failure instanceof CompletionException ? failure.getCause() : failure);
    }

    private static CompletableFuture<List<String>> list(Flow.Publisher<String> items) {
        return Publishers.toList(items);
    }

    /** Whether there is a place for a call; while those that were given up end, there may be none. */
    private static boolean answers(Books books) {
        try {
            return books.text("x", false).equals("x");
        } catch (OverloadedException e) {
            return false;
        }
    }

    private Map<String, Way> ways(World world) {
        Books books = world.of(1).service(0, Books.class);
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("value", () -> assertEquals("x", books.text("x", false)));
        ways.put("thrown", () -> assertThrows(RemoteException.class, () -> books.text("x", true)));
        ways.put("argument", () -> assertThrows(CodingException.class, () -> books.text(NOT_UTF8, false)));
        ways.put("result", () -> assertThrows(RemoteException.class, () -> books.text("wrong", false)));
        ways.put("future", () -> assertEquals("x", books.later("value").join()));
        ways.put("failed future", () -> assertFails(RemoteException.class, books.later("failure")));
        ways.put("wrong future", () -> assertFails(RemoteException.class, books.later("wrong")));
        ways.put("argument of a future", () -> assertFails(CodingException.class, books.later(NOT_UTF8)));
        ways.put("cancelled future", () -> {
            CompletableFuture<String> call = books.later("never");
            World.await(() -> world.of(0).runningCount() == 1 && last.get() != null);
            assertTrue(call.cancel(true));
            assertFails(CancellationException.class, last.getAndSet(null));
        });
        ways.put(
                "future cancelled at once",
                () -> assertTrue(books.later("never").cancel(true)));
        ways.put("completed future", () -> assertTrue(books.later("never").complete("mine")));
        ways.put(
                "stream",
                () -> assertEquals(3, list(books.items("value")).join().size()));
        ways.put("failed stream", () -> assertFails(RemoteException.class, list(books.items("failure"))));
        ways.put("wrong item", () -> assertFails(RemoteException.class, list(books.items("wrong"))));
        ways.put("no stream", () -> assertFails(RemoteException.class, list(books.items("thrown"))));
        ways.put("cancelled stream", () -> {
            CompletableFuture<List<String>> items = list(books.items("never"));
            World.await(() -> world.of(0).runningCount() == 1);
            assertTrue(items.cancel(true));
        });
        ways.put("parameter", () -> assertEquals(2, books.count(Publishers.of(List.of("a", "b")), 2)));
        ways.put("unread parameter", () -> assertEquals(0, books.count(Publishers.of(List.of("a", "b")), 0)));
        ways.put(
                "wrong parameter",
                () -> assertThrows(CodingException.class, () -> books.count(Publishers.of(List.of("a", NOT_UTF8)), 2)));
        ways.put("no parameter", () -> assertThrows(Exception.class, () -> books.count(none(), 2)));
        ways.put("deadline", () -> assertThrows(DeadlineExceededException.class, books::slow));
        ways.put("deadline of a future", () -> assertFails(DeadlineExceededException.class, books.slowLater()));
        ways.put("deadline of a stream", () -> assertFails(DeadlineExceededException.class, list(books.slowItems())));
        ways.put("refusal", () -> {
            List<CompletableFuture<String>> held = List.of(books.later("never"), books.later("never"));
            World.await(() -> world.of(0).runningCount() == 2);
            assertThrows(OverloadedException.class, () -> books.text("x", false));
            assertFails(OverloadedException.class, list(books.items("value")));
            held.forEach(call -> assertTrue(call.cancel(true)));
        });
        ways.put("absent service", () -> {
            Absent absent = world.of(1).service(0, Absent.class);
            CallException why = assertThrows(CallException.class, absent::any);
            assertEquals(ErrorCode.UNIMPLEMENTED, why.code());
        });
        ways.put("other edition", () -> {
            OtherEdition other = world.of(1).service(0, OtherEdition.class);
            CallException why = assertThrows(CallException.class, () -> other.text(1, false));
            assertTrue(why.getMessage().contains("has another version of it"), why::getMessage);
        });
        return ways;
    }

    @SuppressWarnings("NullAway")
    private static Flow.Publisher<String> none() {
        return null;
    }

    @Test
    void shouldHaveItsPlacesBackHoweverACallEnds() throws Throwable {
        ContextOptions options =
                ContextOptions.DEFAULT.withMaxOutstanding(TIMES - 1).withMaxRunning(TIMES - 1);
        try (World world = new World("sci", 2, options, context -> context.export(Books.class, new Implementation()))) {
            Books books = world.of(1).service(0, Books.class);
            for (Map.Entry<String, Way> way : ways(world).entrySet()) {
                for (int i = 0; i < TIMES; i++) {
                    try {
                        way.getValue().go();
                        World.await(() -> answers(books)); // behind a call that has been given up, and the notice of it
                        World.await(() -> world.of(1).outstandingCount() == 0
                                && world.of(0).runningCount() == 0);
                    } catch (Throwable e) {
                        throw new AssertionError(way.getKey() + ", for the " + (i + 1) + ". time", e);
                    }
                }
            }
            List<CompletableFuture<String>> both = List.of(books.later("never"), books.later("never"));
            World.await(() -> world.of(0).runningCount() == 2);
            assertThrows(OverloadedException.class, () -> books.text("x", false), "two, and no more than two");
            both.forEach(call -> assertTrue(call.cancel(true)));
        }
    }
}
