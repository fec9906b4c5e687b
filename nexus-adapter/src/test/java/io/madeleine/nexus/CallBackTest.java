package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handlers that call their sender back while arguments are on their way, behind which the answer comes. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallBackTest {
    /** Called back. */
    @RemoteService
    public interface Greeter {
        /** Answers. */
        @CallTimeout(millis = 15_000)
        String greet(String name);
    }

    private static final byte[] LARGE = new byte[2 << 20];

    static {
        for (int i = 0; i < LARGE.length; i++) {
            LARGE[i] = (byte) (i * 7);
        }
    }

    private final Queue<Object> seen = new ConcurrentLinkedQueue<>();

    private void setUp(Context context) {
        context.export(Greeter.class, name -> "hello " + name);
        context.endpoint("e").threaded("calls back", (_, request) -> {
            Greeter sender = request.getStartpoint().service(Greeter.class);
            byte[] first = request.getBytes();
            String greeting;
            try {
                greeting = sender.greet("you");
            } catch (NexusException e) {
                greeting = e.getMessage();
            }
            seen.add(greeting);
            seen.add(first);
            seen.add(request.getBytes());
        });
    }

    private static Arguments arguments(Context from) {
        return new Arguments()
                .putStartpoint(from.startpoint(from.rank(), Greeter.class.getName()))
                .putBytes(LARGE)
                .putBytes(LARGE);
    }

    private void request(Context from, int to) {
        from.startpoint(to, "e").rsr("calls back", arguments(from));
        World.await(() -> seen.size() == 3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldCallTheSenderBackBeforeALargeArgumentIsTaken(String network) {
        try (World world = new World(network, 2, this::setUp)) {
            request(world.of(1), 0);
        }
        assertEquals("hello you", seen.remove());
        assertArrayEquals(LARGE, (byte[]) seen.remove());
        assertArrayEquals(LARGE, (byte[]) seen.remove());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldFailAtOnceWhereMoreIsOnItsWayThanMayBeReceivedForThat(String network) {
        ContextOptions options = ContextOptions.DEFAULT.withMaxRequestBytes(LARGE.length);
        try (World world = new World(network, 2, options, context -> {
            setUp(context);
            context.endpoint("f").threaded("more", (_, request) -> {
                try {
                    request.context().service(request.remote(), Greeter.class).greet("you");
                } catch (NexusException e) {
                    seen.add(String.valueOf(e.getMessage()));
                }
            });
        })) {
            long beganNs = System.nanoTime();
            world.of(1)
                    .startpoint(0, "f")
                    .rsr("more", new Arguments().putBytes(LARGE).putBytes(LARGE));
            World.await(() -> seen.size() == 1);
            assertTrue(System.nanoTime() - beganNs < TimeUnit.SECONDS.toNanos(10));
            assertTrue(seen.toString().contains("take the large arguments before the call"), seen::toString);
            seen.clear();
            request(world.of(1), 0); // of the second there is not more than that
            assertEquals("hello you", seen.remove());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCallTheSenderBackOverTheWideArea(boolean takesFirst) {
        try (World server = new World("sci", 1, context -> {
                    setUp(context);
                    context.endpoint("f").threaded("calls back first", (_, request) -> {
                        Greeter sender = request.getStartpoint().service(Greeter.class);
                        seen.add(sender.greet("you"));
                        seen.add(request.getBytes());
                        seen.add(request.getBytes());
                    });
                });
                World client = new World("sci", 1, this::setUp)) {
            AttachPoint point = server.of(0)
                    .allowAttach(
                            new InetSocketAddress("127.0.0.1", 0),
                            List.of("127.0.0.1"),
                            _ -> Optional.of(server.of(0).startpoint(0, takesFirst ? "e" : "f")));
            Startpoint there = client.of(0).attach(point.url());
            there.rsr(takesFirst ? "calls back" : "calls back first", arguments(client.of(0)));
            World.await(() -> seen.size() == 3);
            assertEquals("hello you", seen.remove());
            assertArrayEquals(LARGE, (byte[]) seen.remove());
            assertArrayEquals(LARGE, (byte[]) seen.remove());
        }
    }
}
