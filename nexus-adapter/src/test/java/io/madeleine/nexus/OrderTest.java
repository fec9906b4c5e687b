package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a handler sends to a node arrives in order and whole, also what it had to leave in a queue. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrderTest {
    private static final int COUNT = 6_000;

    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger misplaced = new AtomicInteger();

    private void came(int number) {
        if (number != next.getAndIncrement()) {
            misplaced.incrementAndGet();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldKeepTheOrderOfWhatAHandlerSendsToANodeThatHesitates(String network) {
        byte[] ballast = new byte[900];
        byte[] bulk = new byte[3_000];
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("e")
                        .nonThreaded("take", (_, request) -> {
                            int number = request.getInt();
                            if (number % 200 == 0) {
                                LockSupport.parkNanos(1_000_000); // against the rules
                            }
                            came(number);
                        })
                        .nonThreaded("flood", (_, request) -> {
                            Startpoint there = request.context().startpoint(1, "e");
                            for (int i = 0; i < COUNT; i++) {
                                there.rsr("take", new Arguments().putInt(i).putBytes(i % 7 == 0 ? bulk : ballast));
                            }
                        }))) {
            world.of(0).startpoint(0, "e").rsr("flood", new Arguments());
            World.await(() -> next.get() == COUNT);
            assertEquals(0, misplaced.get());
        }
    }

    @Test
    void shouldNotLetHandlersGetBetweenThePiecesOfALargeArgument() throws Exception {
        int large = 12;
        long[] numbers = new long[300_000];
        Arrays.setAll(numbers, i -> 3L * i);
        AtomicInteger whole = new AtomicInteger();
        try (World world = new World(
                "sci",
                2,
                context -> context.endpoint("e")
                        .threaded("large", (_, request) -> {
                            whole.addAndGet(Arrays.equals(numbers, request.getLongs()) ? 1 : 100);
                        })
                        .nonThreaded("take", (_, request) -> came(request.getInt()))
                        .nonThreaded("some", (_, request) -> {
                            int first = request.getInt();
                            Startpoint there =
                                    request.context().startpoint(1, "e").via("wan");
                            for (int i = first; i < first + 10; i++) {
                                there.rsr("take", new Arguments().putInt(i));
                            }
                        }))) {
            AttachPoint _ = world.of(1)
                    .allowAttach(new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.empty());
            World.await(() -> world.of(0).methodsOf(1).size() == 2);
            Startpoint there = world.of(0).startpoint(1, "e").via("wan");
            there.rsr("large", new Arguments().putLongs(numbers)); // connects
            Thread sender = Thread.ofPlatform().start(() -> {
                for (int i = 1; i < large; i++) {
                    there.rsr("large", new Arguments().putLongs(numbers));
                }
            });
            int sent = 0;
            while (sender.isAlive()) {
                world.of(0).startpoint(0, "e").rsr("some", new Arguments().putInt(sent));
                sent += 10;
                LockSupport.parkNanos(200_000);
            }
            sender.join();
            int expected = sent;
            World.await(() -> whole.get() >= large && next.get() == expected);
            assertEquals(large, whole.get());
            assertEquals(0, misplaced.get());
        }
    }

    @Test
    void shouldNotResetArgumentsThatAreBeingSent() {
        CountDownLatch go = new CountDownLatch(1);
        Arguments arguments = new Arguments();
        try (World world = new World(
                "sci",
                2,
                context -> context.endpoint("e")
                        .nonThreaded("take", (_, request) -> {
                            go.await(); // against the rules
                            came(request.getBytes().length);
                        })
                        .nonThreaded(
                                "send",
                                (_, request) -> request.context()
                                        .startpoint(1, "e")
                                        .rsr("take", arguments.putBytes(new byte[8 << 20]))))) {
            next.set(8 << 20);
            world.of(0).startpoint(0, "e").rsr("send", new Arguments());
            assertFalse(arguments.isSent());
            assertThrows(IllegalStateException.class, arguments::reset);
            go.countDown();
            World.await(arguments::isSent);
            assertEquals(0, arguments.reset().byteSize());
            World.await(() -> next.get() == (8 << 20) + 1);
            assertEquals(0, misplaced.get());
        }
    }
}
