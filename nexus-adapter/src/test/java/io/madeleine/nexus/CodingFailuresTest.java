package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.MadeleineException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of calls and streams whose values cannot be written or read, whatever is thrown: they end, at once. */
@ParameterizedClass
@ValueSource(strings = {"sci", "tcp"})
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CodingFailuresTest {
    private static final int SERVER = 0;
    private static final int CLIENT = 1;

    @Parameter
    String network;

    /** A value whose sixth cannot be written or read at one of the ends. */
    record Fussy(int number) {}

    /** Throws where it is made of its message. */
    static final class Unmakeable extends Exception {
        private static final long serialVersionUID = 1L;

        Unmakeable(String message) {
            super(message);
            if (message.equals("there")) {
                throw new AssertionError("not here");
            }
        }

        Unmakeable() {
            super("there");
        }
    }

    static final class Mute extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new AssertionError("no message");
        }
    }

    @RemoteService
    interface Fussiness {
        Fussy get(int number);

        CompletableFuture<Fussy> getLater(int number);

        int put(Fussy fussy);

        Flow.Publisher<Fussy> items(int count);

        List<Integer> take(Flow.Publisher<Fussy> items);

        void fails(boolean mute) throws Unmakeable;

        MemorySegment closed();

        int one();
    }

    private final CompletableFuture<Throwable> subscribersEnd = new CompletableFuture<>();
    private final AtomicBoolean publisherCancelled = new AtomicBoolean();
    private volatile int badReader = -1;
    private volatile int badWriter = -1;
    private volatile Supplier<Throwable> thrown = IllegalArgumentException::new;

    private void maybeFail(Context context, int badRank, int number) {
        if (context.rank() == badRank && number == 5) {
            throw Sneaky.asUnchecked(thrown.get());
        }
    }

    private Flow.Publisher<Fussy> publisher(int count) {
        return subscriber -> Publishers.of(
                        () -> IntStream.range(0, count).mapToObj(Fussy::new).iterator())
                .subscribe(new Flow.Subscriber<Fussy>() {
                    @Override
                    public void onSubscribe(Flow.Subscription subscription) {
                        subscriber.onSubscribe(new Flow.Subscription() {
                            @Override
                            public void request(long wanted) {
                                subscription.request(wanted);
                            }

                            @Override
                            public void cancel() {
                                publisherCancelled.set(true);
                                subscription.cancel();
                            }
                        });
                    }

                    @Override
                    public void onNext(Fussy item) {
                        subscriber.onNext(item);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        subscriber.onError(failure);
                    }

                    @Override
                    public void onComplete() {
                        subscriber.onComplete();
                    }
                });
    }

    private final class Implementation implements Fussiness {
        @Override
        public Fussy get(int number) {
            return new Fussy(number);
        }

        @Override
        public CompletableFuture<Fussy> getLater(int number) {
            return CompletableFuture.supplyAsync(
                    () -> new Fussy(number), CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS));
        }

        @Override
        public int put(Fussy fussy) {
            return fussy.number();
        }

        @Override
        public Flow.Publisher<Fussy> items(int count) {
            return publisher(count);
        }

        @Override
        public List<Integer> take(Flow.Publisher<Fussy> items) {
            List<Integer> numbers = new ArrayList<>();
            try {
                Publishers.forEach(items, 3, item -> numbers.add(item.number())).join();
            } catch (CompletionException e) {
                subscribersEnd.complete(e.getCause());
            }
            return numbers;
        }

        @Override
        public void fails(boolean mute) throws Unmakeable {
            if (mute) {
                throw new Mute();
            }
            throw new Unmakeable();
        }

        @Override
        public MemorySegment closed() {
            try (Arena arena = Arena.ofShared()) {
                return arena.allocate(100_000);
            }
        }

        @Override
        public int one() {
            return 1;
        }
    }

    private World world() {
        return new World(network, 2, context -> {
            context.codecs()
                    .register(
                            Fussy.class,
                            Codec.of(
                                    (value, arguments) -> {
                                        maybeFail(context, badWriter, value.number());
                                        arguments.putInt(value.number());
                                    },
                                    request -> {
                                        int number = request.getInt();
                                        maybeFail(context, badReader, number);
                                        return new Fussy(number);
                                    }));
            context.export(Fussiness.class, new Implementation());
        });
    }

    private static final List<Supplier<Throwable>> THROWN = List.of(
            () -> new IllegalArgumentException("fussy"),
            () -> new StackOverflowError("fussy"),
            () -> new OutOfMemoryError("fussy"),
            () -> new LinkageError("fussy"));

    private static void assertTells(Throwable failure, String what) {
        assertInstanceOf(MadeleineException.class, failure);
        assertTrue(String.valueOf(failure.getMessage()).contains(what), failure::toString);
        assertTrue(String.valueOf(failure.getMessage()).contains("fussy"), failure::toString);
    }

    @Test
    void shouldEndTheCallAtOnceIfAValueCannotBeWrittenOrRead() {
        try (World world = world()) {
            Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
            long startNs = System.nanoTime();
            for (Supplier<Throwable> each : THROWN) {
                thrown = each;
                for (int bad = 0; bad < 4; bad++) {
                    badReader = bad < 2 ? bad : -1;
                    badWriter = bad < 2 ? -1 : bad - 2;
                    if (badReader == CLIENT || badWriter == SERVER) {
                        assertTells(assertThrows(Throwable.class, () -> remote.get(5)), "Fussiness.get");
                        ExecutionException later = assertThrows(
                                ExecutionException.class,
                                () -> remote.getLater(5).get(10, TimeUnit.SECONDS));
                        assertTells(later.getCause(), "Fussiness.getLater");
                    } else {
                        assertTells(assertThrows(Throwable.class, () -> remote.put(new Fussy(5))), "Fussiness.put");
                    }
                }
            }
            assertEquals(1, remote.one());
            assertTrue(System.nanoTime() - startNs < 15_000_000_000L, "ended by deadlines");
            assertEquals(0, world.of(CLIENT).outstandingCount());
            World.await(() -> world.of(SERVER).runningCount() == 0);
        }
    }

    @Test
    void shouldEndTheStreamOnBothSidesIfAnItemCannotBeWrittenOrRead() {
        for (Supplier<Throwable> each : THROWN) {
            for (boolean reads : new boolean[] {true, false}) {
                thrown = each;
                badReader = reads ? CLIENT : -1;
                badWriter = reads ? -1 : SERVER;
                publisherCancelled.set(false);
                try (World world = world()) {
                    Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
                    List<Integer> got = new ArrayList<>();
                    ExecutionException ended = assertThrows(
                            ExecutionException.class,
                            () -> Publishers.forEach(remote.items(10), 4, item -> got.add(item.number()))
                                    .get(10, TimeUnit.SECONDS));
                    assertTells(ended.getCause(), "item 6 of Fussiness.items");
                    assertEquals(List.of(0, 1, 2, 3, 4), got);
                    World.await(publisherCancelled::get);
                    assertEquals(1, remote.one());
                    assertEquals(0, world.of(CLIENT).outstandingCount());
                }
            }
        }
    }

    @Test
    void shouldEndTheCallAndBothSidesOfItsParameterIfAnItemCannotBeWrittenOrRead() throws Exception {
        for (boolean reads : new boolean[] {true, false}) {
            badReader = reads ? SERVER : -1;
            badWriter = reads ? -1 : CLIENT;
            thrown = () -> new StackOverflowError("fussy");
            publisherCancelled.set(false);
            try (World world = world()) {
                Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
                assertTells(
                        assertThrows(Throwable.class, () -> remote.take(publisher(10))),
                        "item 6 of parameter 1 of Fussiness.take");
                assertTells(subscribersEnd.get(10, TimeUnit.SECONDS), "item 6 of parameter 1 of Fussiness.take");
                World.await(publisherCancelled::get);
                assertEquals(1, remote.one());
                World.await(() -> world.of(SERVER).runningCount() == 0);
            }
        }
    }

    @Test
    void shouldEndTheCallAtOnceIfItsExceptionCannotBeAskedOrMade() {
        try (World world = world()) {
            Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
            RemoteException unmade = assertThrows(RemoteException.class, () -> remote.fails(false));
            assertEquals(Unmakeable.class.getName(), unmade.remoteType());
            RemoteException mute = assertThrows(RemoteException.class, () -> remote.fails(true));
            assertEquals(Mute.class.getName(), mute.remoteType());
            assertTrue(String.valueOf(mute.getMessage()).contains("cannot be made"), mute::toString);
        }
    }

    @Test
    void shouldEndTheCallAtOnceIfTheMemoryOfItsResultIsClosed() {
        try (World world = world()) {
            Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
            MadeleineException closed = assertThrows(MadeleineException.class, remote::closed);
            assertTrue(closed.toString().contains("Fussiness.closed cannot be"), closed::toString);
            assertEquals(1, remote.one());
        }
    }

    @Test
    void shouldEndParametersThatEndWhileTheyAreSubscribedTo() {
        try (World world = world()) {
            Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
            Flow.Publisher<Fussy> empty = subscriber -> {
                subscriber.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long count) {}

                    @Override
                    public void cancel() {}
                });
                subscriber.onComplete();
            };
            assertEquals(List.of(), remote.take(empty));
            Flow.Publisher<Fussy> broken = _ -> {
                throw new AssertionError("nobody may subscribe");
            };
            assertEquals(List.of(), remote.take(broken));
            assertTrue(String.valueOf(subscribersEnd.join().getMessage()).contains("nobody may subscribe"));
        }
    }

    @Test
    void shouldEndStreamsWhosePublisherOrConsumerThrowsErrors() {
        try (World world = world()) {
            Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
            Flow.Publisher<Fussy> broken = subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    throw new AssertionError("nothing to be had");
                }

                @Override
                public void cancel() {}
            });
            assertEquals(List.of(), remote.take(broken));
            assertTrue(String.valueOf(subscribersEnd.join().getMessage()).contains("nothing to be had"));
            CompletableFuture<Void> taken = Publishers.forEach(remote.items(10), 2, _ -> {
                throw new AssertionError("I take nothing");
            });
            assertInstanceOf(
                    AssertionError.class,
                    assertThrows(ExecutionException.class, () -> taken.get(10, TimeUnit.SECONDS))
                            .getCause());
            World.await(publisherCancelled::get);
        }
    }

    @Test
    void shouldSendItemsOfAThreadThatIsInterrupted() throws Exception {
        try (World world = world()) {
            Fussiness remote = world.of(CLIENT).service(SERVER, Fussiness.class);
            Flow.Publisher<Fussy> interrupted = subscriber -> Publishers.of(() -> IntStream.range(0, 2_000)
                            .mapToObj(number -> {
                                Thread.currentThread().interrupt();
                                return new Fussy(number);
                            })
                            .iterator())
                    .subscribe(subscriber);
            CountDownLatch over = new CountDownLatch(1);
            AtomicReference<List<Integer>> got = new AtomicReference<>();
            Thread.startVirtualThread(() -> {
                got.set(remote.take(interrupted));
                over.countDown();
            });
            assertTrue(over.await(20, TimeUnit.SECONDS));
            assertEquals(2_000, got.get().size());
        }
    }
}
