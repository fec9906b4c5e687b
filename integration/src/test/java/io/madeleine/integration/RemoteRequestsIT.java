package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.ContextOptions;
import io.madeleine.nexus.RemoteService;
import io.madeleine.nexus.Startpoint;
import io.madeleine.session.OnFailure;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Remote service requests between processes: one is killed, one is slow. */
class RemoteRequestsIT {
    private static final long NOTICE_MS = 5_000;

    @ParameterizedTest
    @CsvSource({"tcp", "sci"})
    @Tag("measures")
    void shouldFailCallsToAKilledProcessWithinSecondsWhileOthersGoOn(String network) throws Exception {
        Ranks ranks = Ranks.of(3, Callers.class).over(network).with("wait.mode=adaptive");
        try (Processes processes = ranks.launched(OnFailure.CONTINUE).start()) {
            processes.awaitLine(0, "ready");
            processes.awaitLine(2, "ready");
            long killedMs = processes.kill(1);
            processes.awaitAll();
            for (int rank = 0; rank < 3; rank += 2) {
                List<String> lines = processes.out(rank).lines();
                String failed = lines.stream()
                        .filter(line -> line.startsWith("failed "))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(processes.toString()));
                String[] words = failed.split(" ");
                assertEquals(Integer.toString(Callers.CALLS), words[1], processes::toString);
                long afterMs = Long.parseLong(words[2]) - killedMs;
                assertTrue(afterMs <= NOTICE_MS, () -> afterMs + " ms after the death\n" + processes);
                assertTrue(lines.contains("the other answers"), processes::toString);
            }
        }
    }

    /** Its argument is on its way for as long as it is stopped. */
    @ParameterizedTest
    @CsvSource({"sci", "tcp"})
    @Tag("measures")
    void shouldServeOthersWhileASenderIsStoppedInTheMidstOfALargeArgument(String network) throws Exception {
        Ranks ranks = Ranks.of(3, Streamers.class).over(network).with("wait.mode=adaptive", "peer-timeout=60s");
        try (Processes processes = ranks.start()) {
            processes.awaitLine(0, "flowing");
            int alone = Integer.parseInt(processes.awaitLine(2, "alone "));
            processes.signal(1, "STOP");
            int beside = Integer.parseInt(processes.awaitLine(2, "beside "));
            processes.signal(1, "CONT");
            assertTrue(2 * beside > alone, () -> beside + " of " + alone + " calls\n" + processes);
            processes.awaitLine(0, "all came whole");
            processes.assertSuccess();
        }
    }

    /** Rank 1 sends one large argument after the other to a non-threaded handler of rank 0, which rank 2 calls. */
    static final class Streamers {
        private static final int BYTES = 48 << 20;
        private static final long MEASURED_NS = TimeUnit.MILLISECONDS.toNanos(500);
        private static final int PERIODS = 5;

        /** Called. */
        @RemoteService
        public interface Adder {
            /** One more. */
            int next(int number);

            /** The others have made their calls. */
            void over();
        }

        public static void main(String[] args) throws Exception {
            AtomicInteger came = new AtomicInteger();
            AtomicInteger broken = new AtomicInteger();
            AtomicInteger over = new AtomicInteger();
            byte[] taken = new byte[BYTES];
            Adder own = new Adder() {
                @Override
                public int next(int number) {
                    return number + 1;
                }

                @Override
                public void over() {
                    over.incrementAndGet();
                }
            };
            try (Session session = Session.open();
                    Context context = Context.open(session, created -> {
                        created.export(Adder.class, own);
                        created.endpoint("e").nonThreaded("take", (_, request) -> {
                            request.get(MemorySegment.ofArray(taken));
                            broken.addAndGet(taken[0] == taken[BYTES - 1] ? 0 : 1);
                            if (came.incrementAndGet() == 3) {
                                System.out.println("flowing");
                            }
                        });
                    })) {
                Adder server = context.service(0, Adder.class);
                switch (context.rank()) {
                    case 0 -> {
                        context.await(() -> over.get() == 2);
                        int before = came.get();
                        System.out.println(broken.get() == 0 && before > 2 ? "all came whole" : "broken " + broken);
                    }
                    case 1 -> {
                        byte[] block = new byte[BYTES];
                        long endNs = System.nanoTime() + 6 * MEASURED_NS;
                        for (byte i = 0; System.nanoTime() - endNs < 0; i++) {
                            block[0] = i;
                            block[BYTES - 1] = i;
                            context.startpoint(0, "e").rsr("take", new Arguments().putBytes(block));
                        }
                        server.over();
                    }
                    default -> {
                        callsIn(server);
                        int alone = callsIn(server); // beside a sender that is not slow
                        System.out.println("alone " + alone);
                        Thread.sleep(300); // it is stopped meanwhile
                        int beside = 0;
                        for (int i = 0; i < PERIODS && 2 * beside <= alone; i++) { // a machine may pause in one
                            beside = Math.max(beside, callsIn(server));
                        }
                        System.out.println("beside " + beside);
                        server.over();
                    }
                }
                context.barrier(Duration.ofSeconds(20));
            }
        }

        private static int callsIn(Adder server) {
            int count = 0;
            for (long endNs = System.nanoTime() + MEASURED_NS; System.nanoTime() - endNs < 0; ) {
                count = server.next(count);
            }
            return count;
        }
    }

    /** Ranks 0 and 2 call rank 1, which does not answer, and each other. */
    static final class Callers {
        static final int CALLS = 50;

        /** Called. */
        @RemoteService
        public interface Sleeper {
            /** Answers much later. */
            CompletableFuture<Integer> sleep(int millis);

            /** Answers at once. */
            int next(int number);

            /** Answers when this process, too, has made its calls. */
            CompletableFuture<Integer> meet();
        }

        private static final class Implementation implements Sleeper {
            private final CompletableFuture<Integer> over = new CompletableFuture<>();

            @Override
            public CompletableFuture<Integer> sleep(int millis) {
                return CompletableFuture.supplyAsync(
                        () -> millis, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
            }

            @Override
            public int next(int number) {
                return number + 1;
            }

            @Override
            public CompletableFuture<Integer> meet() {
                return over;
            }
        }

        public static void main(String[] args) throws Exception {
            Implementation own = new Implementation();
            try (Session session = Session.open();
                    Context context = Context.open(session, created -> created.export(Sleeper.class, own))) {
                Sleeper victim = context.service(1, Sleeper.class);
                if (context.rank() == 1) {
                    Thread.sleep(60_000);
                    return;
                }
                List<CompletableFuture<Integer>> open = new ArrayList<>();
                for (int i = 0; i < CALLS; i++) {
                    open.add(victim.sleep(60_000));
                }
                Sleeper other = context.service(2 - context.rank(), Sleeper.class);
                other.next(0);
                System.out.println("ready");
                int failed = 0;
                for (CompletableFuture<Integer> call : open) {
                    try {
                        call.join();
                    } catch (CompletionException e) {
                        failed += e.getCause() instanceof PeerFailedException ? 1 : 0;
                    }
                }
                System.out.println("failed " + failed + " " + System.currentTimeMillis());
                int number = 0;
                for (int i = 0; i < 1_000; i++) {
                    number = other.next(number);
                }
                System.out.println(number == 1_000 ? "the other answers" : "wrong: " + number);
                own.over.complete(number);
                try {
                    other.meet().join();
                } catch (CompletionException | PeerFailedException _) {
                    // it had been answered, and has left
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"tcp", "sci"})
    void shouldRefuseWhatASlowServerWithASmallHeapCannotTake(String network) throws Exception {
        Ranks ranks = Ranks.of(2, Flood.class).over(network).java("-Xmx32m");
        try (Processes processes = ranks.start()) {
            processes.awaitAll();
            assertEquals("all told", processes.out(1).lines().getLast(), processes::toString);
            assertEquals("at most 64 at once", processes.out(0).lines().getFirst(), processes::toString);
        }
    }

    /** Rank 1 sends more requests than its heap could hold to rank 0, whose handlers sleep. */
    static final class Flood {
        private static final int COUNT = 250_000;

        public static void main(String[] args) {
            AtomicInteger now = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            ContextOptions options = ContextOptions.DEFAULT.withMaxRunning(64);
            try (Session session = Session.open();
                    Context context = Context.open(session.channel(), options, created -> {
                        created.endpoint("slow").threaded("work", (_, request) -> {
                            most.accumulateAndGet(now.incrementAndGet(), Math::max);
                            Startpoint done = request.getStartpoint();
                            Thread.sleep(10);
                            now.decrementAndGet();
                            done.rsr("done", new Arguments());
                        });
                    })) {
                if (context.rank() == 1) {
                    flood(context);
                }
                context.barrier(Duration.ofSeconds(90));
                if (context.rank() == 0) {
                    System.out.println(most.get() <= 64 ? "at most 64 at once" : most + " at once");
                }
                context.barrier(Duration.ofSeconds(90));
            }
        }

        private static void flood(Context context) {
            AtomicLong done = new AtomicLong();
            Startpoint mine = context.endpoint()
                    .nonThreaded("done", (_, _) -> done.incrementAndGet())
                    .startpoint()
                    .lightweight();
            Startpoint slow = context.startpoint(0, "slow");
            Arguments arguments = new Arguments();
            for (int i = 0; i < COUNT; i++) {
                slow.rsr("work", arguments.reset().putStartpoint(mine));
            }
            boolean all = context.await(() -> done.get() + context.refusedCount() == COUNT, 30, TimeUnit.SECONDS);
            System.out.println(
                    all && done.get() >= 64 ? "all told" : done + " done, " + context.refusedCount() + " refused");
        }
    }
}
