package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What callers get: declared exceptions and those that extend them, segments; and what becomes of futures they give up.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallEndsTest {
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger interrupted = new AtomicInteger();
    private final CountDownLatch never = new CountDownLatch(1);

    /** Of a program, with what it may throw by itself. */
    private static final class OutOfStock extends Exception {
        private static final long serialVersionUID = 1L;

        private OutOfStock(String message) {
            super(message);
        }
    }

    /** Cannot be made of a message. */
    private static final class Sold extends Exception {
        private static final long serialVersionUID = 1L;

        private Sold(int count) {
            super(count + " were sold");
        }
    }

    @RemoteService
    interface Shop {
        void read(String file) throws IOException, OutOfStock;

        void sell(int count) throws OutOfStock, Sold;

        void anything() throws Exception;

        Flow.Publisher<Integer> lines(String file) throws IOException;

        CompletableFuture<Integer> waits();

        @Idempotent
        CompletableFuture<Integer> waitsAgain();

        MemorySegment same(MemorySegment segment);
    }

    private final class Implementation implements Shop {
        @Override
        public void read(String file) throws IOException {
            throw new NoSuchFileException(file);
        }

        @Override
        public void sell(int count) throws OutOfStock, Sold {
            if (count > 3) {
                throw new OutOfStock("only 3 are left");
            }
            throw new Sold(count);
        }

        @Override
        public void anything() {
            throw new IllegalStateException("of no declared kind");
        }

        @Override
        public Flow.Publisher<Integer> lines(String file) {
            return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    subscriber.onError(new NoSuchFileException(file));
                }

                @Override
                public void cancel() {}
            });
        }

        @Override
        public CompletableFuture<Integer> waits() {
            waiting.incrementAndGet();
            try {
                never.await();
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
            }
            return CompletableFuture.completedFuture(0);
        }

        @Override
        public CompletableFuture<Integer> waitsAgain() {
            return waits();
        }

        @Override
        public MemorySegment same(MemorySegment segment) {
            if (segment.byteSize() >= Long.BYTES) {
                segment.set(ValueLayout.JAVA_LONG, 0, segment.get(ValueLayout.JAVA_LONG, 0) + 1);
            }
            return segment;
        }
    }

    private World world() {
        return new World("sci", 2, context -> context.export(Shop.class, new Implementation()));
    }

    @Test
    void shouldThrowTheDeclaredTypeThatTheThrownOneExtends() {
        try (World world = world()) {
            Shop shop = world.of(1).service(0, Shop.class);
            IOException read = assertThrows(IOException.class, () -> shop.read("nothing"));
            assertSame(IOException.class, read.getClass());
            RemoteException why = assertInstanceOf(RemoteException.class, read.getCause());
            assertEquals(NoSuchFileException.class.getName(), why.remoteType());
            ExecutionException streamed = assertThrows(
                    ExecutionException.class,
                    () -> Publishers.toList(shop.lines("nothing")).get(10, TimeUnit.SECONDS));
            assertSame(IOException.class, streamed.getCause().getClass());
            RemoteException unchecked = assertThrows(RemoteException.class, shop::anything);
            assertEquals(IllegalStateException.class.getName(), unchecked.remoteType());
        }
    }

    @Test
    void shouldThrowAProgramsOwnExceptionsOrSayWhichItWas() {
        try (World world = world()) {
            Shop shop = world.of(1).service(0, Shop.class);
            assertEquals(
                    "only 3 are left",
                    assertThrows(OutOfStock.class, () -> shop.sell(4)).getMessage());
            RemoteException sold = assertThrows(RemoteException.class, () -> shop.sell(2));
            assertEquals(
                    RemoteException.class.getName() + ": rank 0 has thrown " + Sold.class.getName() + ": 2 were sold",
                    sold.toString());
        }
    }

    @Test
    void shouldTellTheOtherSideOfEveryWayToGiveUpAFuture() {
        try (World world = world()) {
            Shop shop = world.of(1).service(0, Shop.class);
            CompletableFuture<Integer> late = shop.waits().orTimeout(50, TimeUnit.MILLISECONDS);
            CompletableFuture<Integer> known = shop.waits();
            CompletableFuture<Integer> cancelled = shop.waitsAgain();
            CompletableFuture<Integer> again = shop.waitsAgain().completeOnTimeout(3, 50, TimeUnit.MILLISECONDS);
            World.await(() -> waiting.get() >= 2); // what is given up before it begins never runs
            assertTrue(known.complete(7));
            assertTrue(cancelled.cancel(true));
            assertThrows(Exception.class, late::join);
            assertEquals(3, again.join());
            World.await(() -> world.of(1).outstandingCount() == 0 && world.of(0).runningCount() == 0);
            assertEquals(7, known.join());
            assertTrue(interrupted.get() >= 2, interrupted + " were interrupted");
        }
    }

    /** Timers of the JDK's, for instance, which others need. */
    @Test
    @Tag("measures")
    void shouldNotHaveWhoGivesAFutureUpWaitForAPeerThatTakesNothing() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger sent = new AtomicInteger();
        try (World world = world()) {
            world.of(0).endpoint("slow").nonThreaded("blocks", (_, _) -> {
                blocked.countDown();
                goOn.await(20, TimeUnit.SECONDS);
            });
            CompletableFuture<Integer> known =
                    world.of(1).service(0, Shop.class).waits();
            World.await(() -> world.of(0).runningCount() == 1);
            Startpoint slow = world.of(1).startpoint(0, "slow");
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
            assertTrue(known.complete(7));
            assertTrue(System.nanoTime() - startNs < 5_000_000_000L, "it waited for the peer");
            assertTrue(goOn.getCount() > 0 && flood.isAlive(), "the peer was not stuck");
            goOn.countDown();
            flood.join();
            World.await(() -> world.of(0).runningCount() == 0);
        }
    }

    @Test
    void shouldBringSegmentsAsMemoryForLongs() {
        try (World world = world();
                Arena arena = Arena.ofConfined()) {
            Shop shop = world.of(1).service(0, Shop.class);
            for (int bytes : new int[] {0, 5, 8, 1_000, 100_003}) {
                MemorySegment sent = arena.allocate(bytes, Long.BYTES).fill((byte) 5);
                MemorySegment got = shop.same(sent);
                if (bytes >= Long.BYTES) {
                    assertEquals(
                            sent.get(ValueLayout.JAVA_LONG, 0) + 1,
                            got.get(ValueLayout.JAVA_LONG, 0),
                            bytes + " bytes");
                    got.set(ValueLayout.JAVA_LONG, 0, sent.get(ValueLayout.JAVA_LONG, 0));
                }
                assertEquals(-1, sent.mismatch(got), bytes + " bytes");
            }
        }
    }
}
