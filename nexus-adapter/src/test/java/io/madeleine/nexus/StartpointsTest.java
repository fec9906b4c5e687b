package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Endpoints with their data, and pointers to several of them, which travel and are compared. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StartpointsTest {
    @Test
    void shouldGiveHandlersTheDataOfTheirEndpoint() {
        AtomicInteger[] sums = {new AtomicInteger(), new AtomicInteger()};
        Handler add = (endpoint, request) -> endpoint.local(AtomicInteger.class).addAndGet(request.getInt());
        try (World world = new World("sci", 2, context -> {
            context.endpoint("first").attach(sums[0]).nonThreaded("add", add);
            context.endpoint("second").attach("replaced").attach(sums[1]).threaded("add", add);
        })) {
            Context there = world.of(1);
            there.startpoint(0, "first").rsr("add", new Arguments().putInt(3));
            there.startpoint(0, "second").rsr("add", new Arguments().putInt(5));
            World.await(() -> sums[0].get() == 3 && sums[1].get() == 5);
            Endpoint bare = there.endpoint("bare");
            String none = assertThrows(IllegalStateException.class, () -> bare.local(String.class))
                    .getMessage();
            assertTrue(none.contains("endpoint bare of rank 1 has no local data"), none);
            assertThrows(ClassCastException.class, () -> bare.attach("text").local(Integer.class));
        }
    }

    @Test
    void shouldReachTheOthersThoughOneOfSeveralIsGone() {
        AtomicInteger got = new AtomicInteger();
        try (World world = new World(
                "sci",
                3,
                context -> context.endpoint("each").threaded("add", (endpoint, request) -> {
                    assertEquals(2, endpoint.context().rank());
                    got.addAndGet(request.getInt());
                }))) {
            Context here = world.of(0);
            Startpoint all = Startpoint.toAll(here.startpoint(1, "each"), here.startpoint(2, "each"));
            world.of(1).close();
            World.await(() -> here.node().nodes().get(1).isGone());
            PeerFailedException gone =
                    assertThrows(PeerFailedException.class, () -> all.rsr("add", new Arguments().putInt(7)));
            assertEquals(1, gone.rank());
            World.await(() -> got.get() == 7);
        }
    }

    @Test
    void shouldLetPointersToSeveralEndpointsTravel() {
        AtomicInteger sum = new AtomicInteger();
        AtomicReference<Startpoint> received = new AtomicReference<>();
        try (World world = new World(
                "sci",
                3,
                context -> context.endpoint("post").threaded("take", (_, request) -> {
                    Startpoint all = request.getStartpoint();
                    received.set(all);
                    all.rsr("add", new Arguments().putInt(request.getInt()));
                }))) {
            Startpoint[] own = new Startpoint[3];
            for (int rank = 0; rank < 3; rank++) {
                int factor = rank == 0 ? 1 : 10 * rank;
                own[rank] = world.of(rank)
                        .endpoint("sum " + rank)
                        .threaded("add", (_, request) -> sum.addAndGet(factor * request.getInt()))
                        .startpoint();
            }
            Context here = world.of(0);
            Startpoint all = Startpoint.toAll(own[0], here.startpoint(1, "sum 1"), here.startpoint(2, "sum 2"));
            for (Startpoint each : List.of(all, all.lightweight())) {
                sum.set(0);
                here.startpoint(1, "post")
                        .rsr("take", new Arguments().putStartpoint(each).putInt(2));
                World.await(() -> sum.get() == 2 * 31);
                assertEquals(List.of(0, 1, 2), received.get().ranks());
                assertEquals(all, received.get());
            }
        }
    }

    @Test
    void shouldTellStartpointsToDifferentEndpointsApart() {
        try (World world = new World("sci", 2, context -> {
            context.endpoint("a");
            context.endpoint("b");
        })) {
            Context here = world.of(0);
            Startpoint a = here.startpoint(1, "a");
            Startpoint b = here.startpoint(1, "b");
            assertEquals(a, here.startpoint(1, "a"));
            assertEquals(a.hashCode(), here.startpoint(1, "a").hashCode());
            assertEquals(a, world.of(1).startpoint(1, "a")); // the same one, seen from there
            assertNotEquals(a, b);
            assertNotEquals(a, here.startpoint(0, "a"));
            assertNotEquals(a, Startpoint.toAll(a, b));
            assertNotEquals(Startpoint.toAll(a, b), Startpoint.toAll(b, a));
        }
    }
}
