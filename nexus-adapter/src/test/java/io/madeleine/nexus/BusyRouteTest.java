package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Handlers reply to a node while a thread of theirs keeps the way there busy: all arrives, in order, and the session
 * closes.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BusyRouteTest {
    private static final int COUNT = 100_000;
    private static final long CLOSE_NS = TimeUnit.SECONDS.toNanos(10);

    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger misplaced = new AtomicInteger();
    private final AtomicInteger deepest = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldDeliverAllThatHandlersReplyOnABusyWayAndClose(String network) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        byte[] ballast = new byte[900];
        Startpoint[] back = new Startpoint[1];
        long closingNs;
        try (World world = new World(
                network,
                2,
                ContextOptions.DEFAULT.withMaxQueuedBytes(256 << 20),
                context -> context.endpoint("e")
                        .nonThreaded("ask", (_, request) -> {
                            int number = request.getInt();
                            if (number % 1_000 == 0) {
                                deepest.accumulateAndGet(Thread.currentThread().getStackTrace().length, Math::max);
                            }
                            back[0].rsr("reply", new Arguments().putInt(number));
                        })
                        .nonThreaded("reply", (_, request) -> {
                            if (request.getInt() != next.getAndIncrement()) {
                                misplaced.incrementAndGet();
                            }
                        })
                        .nonThreaded("ignore", (_, _) -> {}))) {
            back[0] = world.of(0).startpoint(1, "e");
            Startpoint busy = world.of(0).startpoint(1, "e");
            Thread keepsBusy = Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    busy.rsr("ignore", new Arguments().putBytes(ballast));
                }
            });
            Startpoint there = world.of(1).startpoint(0, "e");
            for (int i = 0; i < COUNT; i++) {
                there.rsr("ask", new Arguments().putInt(i));
            }
            World.await(() -> next.get() == COUNT);
            over.set(true);
            keepsBusy.join();
            closingNs = System.nanoTime();
        }
        assertTrue(System.nanoTime() - closingNs < CLOSE_NS, "the sessions did not close in time");
        assertEquals(0, misplaced.get());
        assertTrue(deepest.get() < 100, "frames in a handler: " + deepest.get());
    }
}
