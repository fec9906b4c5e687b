package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.WaitInterruptedException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of requests that are queued when their method is lost, or the message before them is given up. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FallbackTest {
    private static final int COUNT = 4_000;
    private static final byte[] BALLAST = new byte[900];
    private static final byte[] BULK = new byte[2_000];

    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicIntegerArray arrived = new AtomicIntegerArray(COUNT);
    private final Queue<RuntimeException> told = new ConcurrentLinkedQueue<>();

    /** Rank 1 takes nothing until {@link #go}; a handler of rank 0 sends it more than can go at once. */
    private World worldThatIsHeldUp(String... methods) {
        World world = new World(
                "sci",
                2,
                context -> context.endpoint("e")
                        .nonThreaded("hold", (_, _) -> go.await()) // against the rules
                        .nonThreaded("take", (_, request) -> arrived.incrementAndGet(request.getInt()))
                        .nonThreaded("flood", (_, request) -> {
                            Startpoint there =
                                    request.context().startpoint(1, "e").via(methods);
                            int first = request.getInt();
                            int count = request.getInt();
                            for (int i = first; i < first + count; i++) {
                                there.rsr("take", new Arguments().putInt(i).putBytes(i % 10 == 0 ? BULK : BALLAST));
                            }
                        }));
        world.of(0).onSendFailure((node, cause) -> {
            assertEquals(1, node);
            told.add(cause);
        });
        return world;
    }

    private static void listen(World world) {
        AttachPoint _ = world.of(1)
                .allowAttach(new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.empty());
        World.await(() -> world.of(0).methodsOf(1).size() == 2);
    }

    private static void flood(World world, int first, int count) {
        world.of(0)
                .startpoint(0, "e")
                .rsr("flood", new Arguments().putInt(first).putInt(count));
    }

    private static void holdAndFlood(World world) {
        world.of(0).startpoint(1, "e").rsr("hold", new Arguments());
        flood(world, 0, COUNT);
        World.await(() -> !world.of(0).node().nodes().get(1).isDrained());
    }

    private int arrivedOnce() {
        int once = 0;
        for (int i = 0; i < COUNT; i++) {
            assertTrue(arrived.get(i) <= 1, "a request was delivered twice");
            once += arrived.get(i);
        }
        return once;
    }

    @Test
    void shouldSendWhatWasQueuedForALostMethodByTheNextOne() {
        try (World world = worldThatIsHeldUp()) {
            listen(world);
            holdAndFlood(world);
            world.of(0).node().nodes().get(1).lostBySession("its network is cut");
            go.countDown();
            World.await(() -> arrivedOnce() == COUNT);
            assertEquals(List.of(), List.copyOf(told));
            assertEquals(
                    "wan", world.of(0).startpoint(1, "e").method().orElseThrow().name());
        }
    }

    @Test
    void shouldReportWhatWasQueuedIfNoOtherMethodMayBeUsed() {
        try (World world = worldThatIsHeldUp("mad")) {
            listen(world);
            holdAndFlood(world);
            world.of(0).node().nodes().get(1).lostBySession("its network is cut");
            go.countDown();
            World.await(() -> arrivedOnce() + told.size() == COUNT);
            assertFalse(told.isEmpty());
            assertEquals(told.size(), world.of(0).sendFailureCount());
            PeerFailedException why = (PeerFailedException) told.peek();
            assertEquals(1, why.rank());
            assertTrue(
                    String.valueOf(why.getMessage()).contains("by mad: mad/sci (channel default): its network is cut"));
        }
    }

    @Test
    void shouldNotForgetWhatIsQueuedBehindAMessageThatIsGivenUp() throws Exception {
        AtomicReference<Throwable> ended = new AtomicReference<>();
        try (World world = worldThatIsHeldUp()) {
            world.of(0).startpoint(1, "e").rsr("hold", new Arguments());
            Thread large = Thread.ofPlatform().start(() -> {
                try {
                    world.of(0).startpoint(1, "e").rsr("none", new Arguments().putBytes(new byte[16 << 20]));
                } catch (WaitInterruptedException e) {
                    ended.set(e);
                }
            });
            World.await(() -> Stream.of(large.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("endPacking")));
            flood(world, 0, 10);
            assertFalse(world.of(0).node().nodes().get(1).isDrained());
            large.interrupt();
            large.join();
            assertTrue(ended.get() instanceof WaitInterruptedException);
            go.countDown();
            World.await(() -> arrivedOnce() == 10);
            assertEquals(List.of(), List.copyOf(told));
        }
    }
}
