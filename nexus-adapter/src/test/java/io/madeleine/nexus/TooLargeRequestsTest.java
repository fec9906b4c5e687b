package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever sends more small arguments than the other end takes is told so, and no stream ends as if it were whole. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TooLargeRequestsTest {
    private static final int MOST_BYTES = 20_000;
    private static final String WHY = "ContextOptions.maxRequestBytes";
    private static final List<Integer> FEW = List.of(1, 2, 3);
    private static final List<Integer> MANY = Collections.nCopies(MOST_BYTES, 7);

    /** Called. */
    @RemoteService
    public interface Lists {
        /** How many there are. */
        int count(List<Integer> numbers);

        /** So many. */
        List<Integer> make(int count);

        /** A few, many, and a few again. */
        Flow.Publisher<List<Integer>> items();

        /** How many there are in each. */
        CompletableFuture<List<Integer>> counts(Flow.Publisher<List<Integer>> lists);
    }

    private static final class Implementation implements Lists {
        @Override
        public int count(List<Integer> numbers) {
            return numbers.size();
        }

        @Override
        public List<Integer> make(int count) {
            return Collections.nCopies(count, 5);
        }

        @Override
        public Flow.Publisher<List<Integer>> items() {
            return Publishers.of(List.of(FEW, MANY, FEW));
        }

        @Override
        public CompletableFuture<List<Integer>> counts(Flow.Publisher<List<Integer>> lists) {
            return Publishers.toList(lists)
                    .thenApply(all -> all.stream().map(List::size).toList());
        }
    }

    /** Two contexts that reach each other by one method. */
    private static final class Pair implements AutoCloseable {
        private final World world;
        private final World guests;
        private final Startpoint there;
        private final Startpoint endpoint;

        Pair(String method) {
            boolean isWide = method.equals("wan");
            ContextOptions options = ContextOptions.DEFAULT.withMaxRequestBytes(MOST_BYTES);
            world = new World(isWide ? "sci" : method, 2, options, context -> {
                context.export(Lists.class, new Implementation());
                context.endpoint("known").threaded("yes", (_, _) -> {});
            });
            guests = isWide ? new World("sci", 1, options, _ -> {}) : world;
            Context server = world.of(1);
            Startpoint service = server.startpoint(1, Lists.class.getName());
            Startpoint known = server.startpoint(1, "known");
            there = isWide ? attach(service) : world.of(0).startpoint(1, Lists.class.getName());
            endpoint = isWide ? attach(known) : world.of(0).startpoint(1, "known");
        }

        private Startpoint attach(Startpoint given) {
            return caller().attach(world.of(1)
                    .allowAttach(new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.of(given))
                    .url());
        }

        Context caller() {
            return guests.of(0);
        }

        @Override
        public void close() {
            if (guests != world) {
                guests.close();
            }
            world.close();
        }
    }

    private static void assertTooLarge(String what, Throwable thrown) {
        assertTrue(String.valueOf(thrown.getMessage()).contains(WHY), () -> what + ": " + thrown);
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return assertThrows(
                        CompletionException.class,
                        () -> future.orTimeout(20, TimeUnit.SECONDS).join())
                .getCause();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp", "wan"})
    void shouldBeToldToTheirSenders(String method) throws Exception {
        try (Pair pair = new Pair(method)) {
            Lists lists = pair.there.service(Lists.class);
            for (int i = 0; i < 3; i++) {
                assertTooLarge("arguments", assertThrows(NexusException.class, () -> lists.count(MANY)));
                assertTooLarge("result", assertThrows(NexusException.class, () -> lists.make(MOST_BYTES)));
                assertTooLarge("an item", failureOf(Publishers.toList(lists.items())));
                assertTooLarge(
                        "an item of a parameter", failureOf(lists.counts(Publishers.of(List.of(FEW, MANY, FEW)))));
                assertEquals(3, lists.count(FEW));
                assertEquals(FEW.size(), lists.make(FEW.size()).size());
                assertEquals(
                        List.of(3, 3),
                        lists.counts(Publishers.of(List.of(FEW, FEW))).get(20, TimeUnit.SECONDS));
            }
            assertEquals(0, pair.caller().outstandingCount());
            LinkedBlockingQueue<Refusal> refusals = new LinkedBlockingQueue<>();
            pair.caller().onRefusal(refusals::add);
            Arguments arguments = new Arguments();
            for (int i = 0; i < MOST_BYTES; i++) {
                arguments.putInt(i);
            }
            pair.endpoint.rsr("yes", arguments);
            Refusal refusal = refusals.poll(20, TimeUnit.SECONDS);
            assertFalse(refusal == null, "no refusal has come");
            assertEquals(Refusal.Reason.TOO_LARGE, refusal.reason());
            assertTrue(refusal.toString().contains(WHY), refusal::toString);
        }
    }
}
