package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** More callers than a server carries out calls for: what is refused is asked for again, and everybody is served. */
@Timeout(value = 90, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CrowdTest {
    private static final int CALLERS = 10_000;

    /** Takes its time. */
    @RemoteService
    public interface Slow {
        /** The same number, later. */
        @Idempotent(attempts = 50)
        int again(int number);
    }

    private static void setUp(Context context) {
        context.export(Slow.class, number -> {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return number;
        });
    }

    private static void assertAllServed(Slow slow, int callers) {
        AtomicInteger right = new AtomicInteger();
        Map<String, Integer> wrong = new ConcurrentHashMap<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < callers; i++) {
                int number = i;
                threads.submit(() -> {
                    try {
                        if (slow.again(number) == number) {
                            right.incrementAndGet();
                        }
                    } catch (RuntimeException e) {
                        wrong.merge(String.valueOf(e), 1, Integer::sum);
                    }
                });
            }
        }
        assertEquals(Map.of(), wrong);
        assertEquals(callers, right.get());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldServeTenThousandCallersOfWhomMostAreRefusedFirst(String network) {
        ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(2_000);
        try (World world = new World(network, 2, options, CrowdTest::setUp)) {
            assertAllServed(world.of(1).service(0, Slow.class), CALLERS);
        }
    }

    @Test
    void shouldServeACrowdOfAnotherSession() {
        ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(500);
        try (World server = new World("sci", 1, options, CrowdTest::setUp);
                World client = new World("sci", 1, _ -> {})) {
            AttachPoint point = server.of(0)
                    .allowAttach(
                            new InetSocketAddress("127.0.0.1", 0),
                            List.of("127.0.0.1"),
                            _ -> Optional.of(server.of(0).startpoint(0, Slow.class.getName())));
            assertAllServed(client.of(0).attach(point.url()).service(Slow.class), 2_000);
        }
    }
}
