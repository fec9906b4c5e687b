package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.madeleine.api.Channel;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Contexts that use a channel one after the other. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SuccessiveContextsTest {
    @RemoteService
    interface Adder {
        int next(int number);
    }

    private static Context open(Channel channel) {
        return Context.open(
                channel, ContextOptions.DEFAULT, context -> context.export(Adder.class, number -> number + 1));
    }

    @Test
    void shouldNotTakeTheGoodbyeOfAnEarlierContextForThatOfTheNext() {
        try (World world = new World("sci", 2, _ -> {})) {
            for (int rank = 0; rank < 2; rank++) {
                world.of(rank).close();
                world.contexts.add(open(world.of(rank).node().session().channel()));
            }
            Context next = world.contexts.get(2);
            Context other = world.contexts.get(3);
            // as if the channel had kept it until now
            Route _ = other.node().send(0, RequestLayout.id("goodbye"), new Arguments().putInt(1));
            assertEquals(1, other.service(0, Adder.class).next(0)); // behind the goodbye
            assertFalse(next.node().nodes().get(1).isGone());
            assertEquals(2, next.service(1, Adder.class).next(1));
            other.close();
            World.await(() -> next.node().nodes().get(1).isGone());
            next.close();
        }
    }

    @Test
    void shouldNotTakeAnArrivalAtABarrierOfAnEarlierContextForOneAtTheNext() {
        try (World world = new World("sci", 2, _ -> {})) {
            long earlier = ((long) world.of(1).node().generation() << Integer.SIZE) + 5;
            for (int rank = 0; rank < 2; rank++) {
                world.of(rank).close();
                world.contexts.add(open(world.of(rank).node().session().channel()));
            }
            Context next = world.contexts.get(2);
            Context other = world.contexts.get(3);
            // as if the channel had kept it until now
            Route _ = other.node().send(0, RequestLayout.id("arrived"), new Arguments().putLong(earlier));
            assertEquals(1, other.service(0, Adder.class).next(0)); // behind the notice
            assertThrows(DeadlineExceededException.class, () -> next.barrier(Duration.ofMillis(50)));
            next.close();
            other.close();
        }
    }

    /** A program may open any number of contexts during a session. */
    @Test
    void shouldNotKeepAContextThatHasBeenClosed() {
        try (World world = new World("sci", 2, _ -> {})) {
            WeakReference<Context> closed = closedAndReplaced(world);
            World.await(() -> {
                System.gc();
                return closed.refersTo(null);
            });
            world.contexts.getLast().close();
        }
    }

    private static WeakReference<Context> closedAndReplaced(World world) {
        Context first = world.contexts.set(0, null);
        Channel channel = first.node().session().channel();
        first.close();
        world.contexts.set(0, open(channel));
        return new WeakReference<>(first);
    }

    @Test
    void shouldLeaveAChannelFreeWhoseContextCouldNotBeMade() {
        try (World world = new World("sci", 2, _ -> {})) {
            Channel channel = world.of(0).node().session().channel();
            Channel scarce = (Channel) Proxy.newProxyInstance(
                    Channel.class.getClassLoader(),
                    new Class<?>[] {Channel.class},
                    (self, method, arguments) -> switch (method.getName()) {
                        case "newSignal" -> throw new OutOfMemoryError("a test says so");
                        case "equals" -> self == arguments[0];
                        case "hashCode" -> System.identityHashCode(self);
                        default -> method.invoke(channel, arguments);
                    });
            for (int i = 0; i < 2; i++) {
                assertThrows(OutOfMemoryError.class, () -> open(scarce));
            }
        }
    }

    /**
     * A process opens its next context, and calls, before the other has opened its own, or closed its earlier one. The
     * one that has closed first takes no answer to its goodbye any more, but the other's goodbye.
     */
    @ParameterizedTest
    @CsvSource({
        "sci, CLOSED_FIRST",
        "tcp, CLOSED_FIRST",
        "sci, CLOSED_LAST",
        "tcp, CLOSED_LAST",
        "sci, OPEN",
        "tcp, OPEN"
    })
    void shouldKeepRequestsForTheNextContextUntilThatIsOpen(String network, Other other) throws Exception {
        try (World world = new World(network, 2, context -> context.export(Adder.class, number -> number + 1))) {
            Context first = world.of(0);
            Context second = world.of(1);
            for (int round = 0; round < 4; round++) {
                Channel channel = first.node().session().channel();
                Channel late = second.node().session().channel();
                if (other == Other.CLOSED_FIRST) {
                    second.close();
                    Peer closed = first.node().nodes().get(second.rank());
                    World.await(closed::isClosed);
                }
                first.close();
                if (other == Other.CLOSED_LAST) {
                    second.close();
                }
                Context early = open(channel);
                world.contexts.add(early);
                int there = second.rank();
                List<CompletableFuture<?>> waits = List.of(
                        start(() -> assertEquals(
                                8, early.service(there, Adder.class).next(7))),
                        start(() -> early.barrier(Duration.ofSeconds(20))));
                early.startpoint(there, "none").rsr("none", new Arguments().putBytes(new byte[100_000]));
                Thread.sleep(100);
                second.close(); // again, or now
                System.gc(); // what is kept does not depend on weak references alone
                Context next = open(late);
                world.contexts.add(next);
                next.barrier(Duration.ofSeconds(20));
                for (CompletableFuture<?> wait : waits) {
                    wait.get(20, TimeUnit.SECONDS);
                }
                assertEquals(1, next.service(early.rank(), Adder.class).next(0));
                first = round % 2 == 0 ? next : early;
                second = round % 2 == 0 ? early : next;
            }
        }
    }

    /** What the other process has done with its earlier context when the first request for the next one is made. */
    private enum Other {
        CLOSED_FIRST,
        CLOSED_LAST,
        OPEN
    }

    /** What nobody takes ends with the session. */
    @Test
    void shouldEndWhatCameForAContextThatIsNeverOpened() {
        try (World world = new World("sci", 2, _ -> {})) {
            world.of(0).close();
            world.of(1).close();
            Context early = open(world.of(0).node().session().channel());
            world.contexts.add(early);
            early.startpoint(1, "none").rsr("none", new Arguments());
            assertThrows(DeadlineExceededException.class, () -> early.barrier(Duration.ofMillis(50)));
            early.close();
        }
    }

    private static CompletableFuture<Void> start(Runnable action) {
        return CompletableFuture.runAsync(
                action, task -> Thread.ofPlatform().daemon().start(task));
    }

    @Test
    void shouldFreeTheChannelOfAContextWhoseSetupThrowsAnUndeclaredException() {
        try (World world = new World("sci", 1, _ -> {})) {
            world.of(0).close();
            Channel channel = world.of(0).node().session().channel();
            assertThrows(
                    InterruptedException.class,
                    () -> Context.open(channel, ContextOptions.DEFAULT, _ -> {
                        throw Sneaky.asUnchecked(new InterruptedException("as a test"));
                    }));
            try (Context next = open(channel)) {
                assertEquals(2, next.service(0, Adder.class).next(1));
            }
        }
    }

    @Test
    void shouldNumberTheCallsOfTheNextContextAnew() {
        try (World world = new World("sci", 1, _ -> {})) {
            long earlier = world.of(0).calls().nextId();
            world.of(0).close();
            try (Context next = open(world.of(0).node().session().channel())) {
                assertNotEquals(earlier, next.calls().nextId());
            }
        }
    }
}
