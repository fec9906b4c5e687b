package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory for many small arguments of one request, which is not needed for the next one. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeptMemoryTest {
    private static final int SMALL_BYTES = 1_000;
    private static final int SMALL_COUNT = 24_000;
    private static final long TOLERATED_BYTES = 12_000_000; // half of the small arguments

    private final AtomicInteger handled = new AtomicInteger();

    private World world(ContextOptions options) {
        return new World(
                "sci",
                2,
                options,
                context -> context.endpoint("e").nonThreaded("take", (_, _) -> handled.incrementAndGet()));
    }

    private static Arguments many() {
        Arguments arguments = new Arguments();
        for (int i = 0; i < SMALL_COUNT; i++) {
            arguments.putBytes(new byte[SMALL_BYTES]);
        }
        return arguments;
    }

    private static long usedBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static void awaitFreed(long usedBefore) {
        World.await(() -> usedBytes() < usedBefore + TOLERATED_BYTES);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100_000})
    void shouldBeFreedAfterARequestOfTheSession(int largeBytes) {
        try (World world = world(ContextOptions.DEFAULT)) {
            long usedBefore = usedBytes();
            Arguments arguments = many();
            if (largeBytes > 0) {
                arguments.putBytes(new byte[largeBytes]);
            }
            world.of(0).startpoint(1, "e").rsr("take", arguments);
            arguments = null;
            World.await(() -> handled.get() == 1);
            awaitFreed(usedBefore);
        }
    }

    @Test
    void shouldBeFreedAfterARequestThatIsRefused() {
        AtomicInteger refused = new AtomicInteger();
        try (World world = world(ContextOptions.DEFAULT.withMaxReceivedBytes(4 << 20))) {
            world.of(0).onRefusal(_ -> refused.incrementAndGet());
            long usedBefore = usedBytes();
            world.of(0).startpoint(1, "e").rsr("take", many().putBytes(new byte[3 << 20]));
            World.await(() -> refused.get() == 1);
            awaitFreed(usedBefore);
        }
    }

    @Test
    void shouldBeFreedAfterARequestOfAnotherSession() {
        try (World server = world(ContextOptions.DEFAULT);
                World guests = world(ContextOptions.DEFAULT)) {
            Startpoint e = server.of(0).startpoint(0, "e");
            AttachPoint point = server.of(0)
                    .allowAttach(new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.of(e));
            Startpoint there = guests.of(0).attach(point.url());
            assertFalse(there.isLocal());
            long usedBefore = usedBytes();
            there.rsr("take", many());
            World.await(() -> handled.get() == 1);
            awaitFreed(usedBefore);
        }
    }
}
