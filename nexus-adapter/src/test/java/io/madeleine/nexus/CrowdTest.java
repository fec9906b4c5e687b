package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
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
        @Idempotent
        int again(int number);

        /** The same. */
        @Idempotent
        CompletableFuture<Integer> later(int number);
    }

    /** One call is all it carries out. */
    @RemoteService(maxConcurrent = 1)
    interface Narrow {
        @Idempotent
        @CallTimeout(millis = 1_000)
        int again(int number);

        @Idempotent
        @CallTimeout(millis = 1_000)
        CompletableFuture<Integer> later(int number);

        @Idempotent
        CompletableFuture<Integer> patient(int number);

        CompletableFuture<Integer> plug();
    }

    private static final class Plugged implements Narrow {
        private final CompletableFuture<Integer> plug = new CompletableFuture<>();

        @Override
        public int again(int number) {
            return number;
        }

        @Override
        public CompletableFuture<Integer> later(int number) {
            return CompletableFuture.completedFuture(number);
        }

        @Override
        public CompletableFuture<Integer> patient(int number) {
            return CompletableFuture.completedFuture(number);
        }

        @Override
        public CompletableFuture<Integer> plug() {
            return plug;
        }
    }

    private static void setUp(Context context) {
        context.export(Slow.class, new Slow() {
            @Override
            public int again(int number) {
                try {
                    Thread.sleep(100);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return number;
            }

            @Override
            public CompletableFuture<Integer> later(int number) {
                return new CompletableFuture<Integer>().completeOnTimeout(number, 100, TimeUnit.MILLISECONDS);
            }
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

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldServeTenThousandFuturesOfWhichMostAreRefusedFirst(String network) {
        ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(2_000);
        try (World world = new World(network, 2, options, CrowdTest::setUp)) {
            Slow slow = world.of(1).service(0, Slow.class);
            List<CompletableFuture<Integer>> made = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                made.add(slow.later(i));
            }
            for (int i = 0; i < CALLERS; i++) {
                assertEquals(i, made.get(i).join());
            }
            assertEquals(0, world.of(1).outstandingCount());
        }
    }

    @Test
    @Tag("measures")
    void shouldEndCallsAtTheirDeadlineAndSayWhyIfTheServerStaysOverloaded() {
        int count = 200;
        Plugged plugged = new Plugged();
        try (World world = new World("sci", 2, context -> context.export(Narrow.class, plugged));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Narrow narrow = world.of(1).service(0, Narrow.class);
            CompletableFuture<Integer> plug = narrow.plug();
            World.await(() -> world.of(0).runningCount() == 1);
            Ends ends = callInVain(narrow, count, threads);
            // a process that is stopped for a while gets the answers to the last attempts too late
            for (int round = 1; round < 5 && !(ends.clear() > count && ends.mostRefusals() > 4); round++) {
                ends = callInVain(narrow, count, threads);
            }
            assertTrue(ends.clear() > count, "of " + 2 * count + " calls: " + ends);
            assertTrue(ends.mostRefusals() > 4, ends::toString);
            plugged.plug.complete(7);
            assertEquals(7, plug.join());
            assertEquals(8, narrow.patient(8).join());
        }
    }

    /** How many of the calls say that they were not carried out, and how often one was refused at most. */
    private record Ends(int clear, int mostRefusals) {}

    private static Ends callInVain(Narrow narrow, int count, ExecutorService threads) {
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        long beginNs = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int number = i;
            all.add(narrow.later(i));
            all.add(CompletableFuture.supplyAsync(() -> narrow.again(number), threads));
        }
        int clear = 0;
        int mostRefusals = 0;
        for (CompletableFuture<Integer> each : all) {
            Throwable why = assertThrows(CompletionException.class, each::join).getCause();
            if (why instanceof OverloadedException) {
                String text = String.valueOf(why.getMessage());
                Matcher said = Pattern.compile("was refused (\\d+) times .*maxConcurrent")
                        .matcher(text);
                assertTrue(said.find(), text);
                mostRefusals = Math.max(mostRefusals, Integer.parseInt(said.group(1)));
                clear++;
            } else {
                assertInstanceOf(DeadlineExceededException.class, why); // its last attempt was not answered in time
            }
        }
        long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs);
        assertTrue(tookMs >= 500, () -> "after " + tookMs + " ms already");
        return new Ends(clear, mostRefusals);
    }

    /** What waits to be made again takes memory, too. */
    @Test
    void shouldMakeNoMoreFuturesThanMayBeOutstandingWhileTheyAreRefused() throws Exception {
        Plugged plugged = new Plugged();
        ContextOptions options = ContextOptions.DEFAULT.withMaxOutstanding(20);
        try (World world = new World("sci", 2, options, context -> context.export(Narrow.class, plugged));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Narrow narrow = world.of(1).service(0, Narrow.class);
            CompletableFuture<Integer> plug = narrow.plug();
            World.await(() -> world.of(0).runningCount() == 1);
            Queue<CompletableFuture<Integer>> made = new ConcurrentLinkedQueue<>();
            Future<?> maker = threads.submit(() -> {
                for (int i = 0; i < 50; i++) {
                    made.add(narrow.patient(i));
                }
            });
            World.await(() -> made.size() == 20);
            Thread.sleep(50);
            assertEquals(20, made.size());
            assertTrue(made.peek().cancel(false));
            World.await(() -> made.size() == 21);
            plugged.plug.complete(7);
            assertEquals(7, plug.join());
            maker.get();
            assertEquals(50, made.size());
            made.stream().skip(1).forEach(CompletableFuture::join);
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
