package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What memory was too short for is done later, and holds up nothing. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShortMemoryTest {
    private static final int LARGE = 100_000;

    @RemoteService
    interface Store {
        byte[] large();

        CompletableFuture<String> never();
    }

    private static World world() {
        return new World(
                "sci",
                2,
                context -> context.export(Store.class, new Store() {
                    @Override
                    public byte[] large() {
                        return new byte[LARGE];
                    }

                    @Override
                    public CompletableFuture<String> never() {
                        return new CompletableFuture<>();
                    }
                }));
    }

    private static OutOfMemoryError shortage() {
        return new OutOfMemoryError("as a test");
    }

    /** Fails so many times. */
    private static void failFor(AtomicInteger left) {
        if (left.getAndDecrement() > 0) {
            throw shortage();
        }
    }

    @Test
    void shouldKeepDeadlinesThoughASweepFails() {
        AtomicInteger shortages = new AtomicInteger(3);
        AtomicInteger sweeps = new AtomicInteger();
        Sweeper sweeper = new Sweeper(() -> sweeps.get() > 2, _ -> {
            failFor(shortages);
            sweeps.incrementAndGet();
        });
        sweeper.wake();
        World.await(() -> sweeps.get() > 2);
    }

    /** A way whose loss takes more memory than there is, for some time. */
    private static final class Fragile extends Route {
        private final AtomicInteger shortages;
        private volatile @Nullable String settled;

        Fragile(Context context, int shortages) {
            super(context.node(), context.node().nodes().get(0));
            this.shortages = new AtomicInteger(shortages);
        }

        @Override
        String name() {
            failFor(shortages);
            return "fragile";
        }

        @Override
        String address() {
            failFor(shortages);
            return "nowhere";
        }

        @Override
        String reason(Throwable why) {
            failFor(shortages);
            return super.reason(why);
        }

        @Override
        boolean send(Arguments arguments, Link link, int handler) {
            return false;
        }

        @Override
        boolean sendNow(Arguments arguments, Link link, int handler, String[] methods) {
            return false;
        }

        @Override
        boolean isDrained() {
            return true;
        }

        @Override
        boolean awaitDrained(long timeoutNs) {
            return true;
        }

        @Override
        @Nullable
        String whyDisconnected() {
            return lost();
        }

        @Override
        void afterLoss(String why) {
            failFor(shortages);
            settled = why;
        }
    }

    @Test
    void shouldLoseAWayAtLastHoweverOftenMemoryIsTooShort() {
        try (World world = world()) {
            Fragile route = new Fragile(world.of(1), 5);
            route.peer.add(route);
            route.loseAtLast(shortage());
            assertEquals(shortage().toString(), route.settled);
            assertFalse(route.peer.routes().contains(route));
            assertEquals(
                    1,
                    route.peer.methods().stream()
                            .filter(method -> method.name().equals("fragile"))
                            .count());
        }
    }

    @Test
    void shouldLoseAWayWithTheNextOneWhoFindsItLost() {
        try (World world = world()) {
            Fragile route = new Fragile(world.of(1), 1);
            assertThrows(OutOfMemoryError.class, () -> route.lose("first"));
            route.lose("second");
            assertEquals("first", route.settled);
        }
    }

    /** A call whose caller cannot be told for some time. */
    private static final class Untellable extends PendingCall {
        private final AtomicInteger shortages;
        private final CompletableFuture<Throwable> end = new CompletableFuture<>();

        Untellable(Context context, String method, int shortages) {
            super(
                    context.calls().nextId(),
                    0,
                    context.serviceMethods().of(Store.class).values().stream()
                            .filter(each -> each.method().getName().equals(method))
                            .findAny()
                            .orElseThrow(),
                    System.nanoTime() + TimeUnit.MINUTES.toNanos(1),
                    null);
            this.shortages = new AtomicInteger(shortages);
        }

        @Override
        void succeed(@Nullable Object value) {
            failFor(shortages);
            end.completeExceptionally(new AssertionError("it has succeeded"));
        }

        @Override
        void readLater(Reading reading) {
            failFor(shortages);
            super.readLater(reading);
        }

        @Override
        void fail(Throwable failure) {
            failFor(shortages);
            end.complete(failure);
        }

        void begin(Context context) {
            context.calls()
                    .begin(
                            this,
                            new Calls.Target(
                                    0, new Link(RequestLayout.endpointId(Store.class.getName())), new String[0]),
                            null);
        }
    }

    @Test
    void shouldTellTheEndOfACallWhenThereIsMemoryForThat() throws Exception {
        try (World world = world()) {
            Untellable call = new Untellable(world.of(1), "never", 3);
            call.begin(world.of(1));
            World.await(() -> call.route() != null);
            world.of(1)
                    .calls()
                    .routeLost(world.of(1).node().nodes().get(0), Objects.requireNonNull(call.route()), "it is cut");
            assertTrue(call.end.get(10, TimeUnit.SECONDS).getMessage().contains("it is cut"));
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    /** Else the answer of a call whose thread lacks memory would be kept for it, and all behind that answer. */
    @Test
    @Tag("measures")
    void shouldTakeNoMemoryToEndACall() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (World world = world()) {
            Calls calls = world.of(1).calls();
            List<Untellable> begun = new ArrayList<>();
            for (int i = 0; i < 300; i++) { // boxes of small numbers are there already
                begun.add(new Untellable(world.of(1), "never", 0));
                begun.getLast().begin(world.of(1));
            }
            long beforeBytes = threads.getCurrentThreadAllocatedBytes();
            for (int i = 200; i < 300; i++) {
                calls.remove(begun.get(i));
            }
            long bytes = threads.getCurrentThreadAllocatedBytes() - beforeBytes;
            assertTrue(bytes < 1_000, bytes + " bytes");
            begun.forEach(calls::giveUp);
        }
    }

    @Test
    void shouldEndACallWhoseLargeAnswerCannotBeTaken() throws Exception {
        try (World world = world()) {
            Untellable call = new Untellable(world.of(1), "large", 2);
            call.begin(world.of(1));
            assertSame(
                    OutOfMemoryError.class, call.end.get(10, TimeUnit.SECONDS).getClass());
            assertEquals(
                    LARGE,
                    world.of(1)
                            .startpoint(0, Store.class.getName())
                            .service(Store.class)
                            .large()
                            .length);
        }
    }

    @Test
    void shouldEndCallsWhoseAnswerMayHaveBeenDropped() {
        try (World world = world()) {
            Store store = world.of(1).startpoint(0, Store.class.getName()).service(Store.class);
            CompletableFuture<String> before = store.never();
            world.of(1).node().nodes().get(0).dropped();
            CompletableFuture<String> after = store.never();
            ExecutionException failure = assertThrows(ExecutionException.class, () -> before.get(10, TimeUnit.SECONDS));
            assertSame(PeerFailedException.class, failure.getCause().getClass());
            assertFalse(after.isDone());
            after.cancel(false);
        }
    }
}
