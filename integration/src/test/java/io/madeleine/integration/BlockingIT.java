package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Sessions that sleep while nothing comes, and wake up when something does. */
@Tag("quiet")
@Tag("measures")
class BlockingIT {
    /** Of a processor, for all threads but those of the JVM. */
    private static final int MAX_PERMILLE = 5;

    /** Of some thousand rounds; a busy machine makes a few late. */
    private static final int MOST_LATE = 10;

    @ParameterizedTest
    @CsvSource({"tcp, block, 2", "sci, block, 2", "auto, adaptive, 4"})
    void shouldUseNextToNoTimeWhileIdle(String network, String wait, int count) throws Exception {
        try (Processes processes = Ranks.of(count, Idle.class)
                .over(network)
                .with("wait.mode=" + wait)
                .start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < count; rank++) {
                int permille = Integer.parseInt(processes.awaitLine(rank, "permille of a core: "));
                System.out.println(network + ", " + wait + ", rank " + rank + ": " + permille + " permille of a core");
                assertTrue(permille < MAX_PERMILLE, processes::toString);
            }
        }
    }

    /** A wake-up that is lost shows only as time: whoever sleeps looks by itself now and then. */
    @ParameterizedTest
    @MethodSource("networksAndWaits")
    void shouldLoseNoWakeUp(String network, String wait) throws Exception {
        long seed = Long.getLong("integration.seed", System.nanoTime());
        try (Processes processes = Ranks.of(2, Pauses.class)
                .over(network)
                .with("wait.mode=" + wait)
                .arguments(seed)
                .start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                int late = Integer.parseInt(processes.awaitLine(rank, "late rounds: "));
                assertTrue(late <= MOST_LATE, () -> "seed " + seed + ", " + processes);
            }
        }
    }

    private static Stream<Arguments> networksAndWaits() {
        return Stream.concat(
                Cases.always("tcp, block", "sci, adaptive", "dma, block", "bip, block"),
                Cases.thoroughly("sci, block"));
    }

    private static void send(Channel channel, int number) {
        channel.beginPacking(channel.session().rank() ^ 1).packInt(number).endPacking();
    }

    private static void receive(Channel channel, int number) {
        IncomingMessage in = channel.beginUnpacking(20, SECONDS);
        int found = in.unpackInt();
        in.endUnpacking();
        if (found != number) {
            throw new AssertionError("expected " + number + ", found " + found);
        }
    }

    /** Both wait for a message; the one that waits on a virtual thread, too, since that has another waiting for it. */
    static final class Idle {
        private static final List<String> OURS = List.of("madeleine-", "waiting", "ForkJoinPool-");
        private static final int PERIODS = 3;
        private static final long PERIOD_MS = 1_000;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                for (int i = 0; i < 100; i++) {
                    exchange(channel, i);
                }
                Thread.Builder builder = session.rank() % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
                Thread waiting = builder.name("waiting").start(() -> receive(channel, 1000));
                Thread.sleep(500); // the wait has begun
                System.out.println("permille of a core: " + leastPermille());
                if (session.rank() % 2 == 0) {
                    Thread.sleep(500); // the other measures, too
                }
                send(channel, 1000);
                waiting.join();
                for (int i = 0; i < 100; i++) {
                    exchange(channel, 2000 + i);
                }
            }
        }

        /** In the quietest of some periods, or in the first quiet one: what waiting costs it costs in each. */
        private static long leastPermille() throws Exception {
            long least = Long.MAX_VALUE;
            for (int i = 0; i < PERIODS && least >= MAX_PERMILLE; i++) {
                long beganNs = System.nanoTime();
                Map<Path, Long> before = usedNs();
                Thread.sleep(PERIOD_MS);
                long used = 0;
                for (Map.Entry<Path, Long> thread : usedNs().entrySet()) {
                    used += thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
                }
                least = Math.min(least, used * 1000 / (System.nanoTime() - beganNs));
            }
            return least;
        }

        /**
         * What the session's threads, the waiting one and the carriers of virtual threads have used, by thread. In
         * nanoseconds: the time of the process counts ticks, and one is a percent.
         */
        private static Map<Path, Long> usedNs() throws IOException {
            Map<Path, Long> used = new HashMap<>();
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
                for (Path thread : threads) {
                    try {
                        String name = Files.readString(thread.resolve("comm"));
                        if (OURS.stream().anyMatch(name::startsWith)) {
                            String times = Files.readString(thread.resolve("schedstat"));
                            used.put(thread, Long.parseLong(times.split(" ")[0]));
                        }
                    } catch (IOException _) {
                        // the thread has ended
                    }
                }
            }
            return used;
        }

        private static void exchange(Channel channel, int number) {
            send(channel, number);
            receive(channel, number);
        }
    }

    /** Ping-pong with pauses of random length, long enough for the other to fall asleep or just about to. */
    static final class Pauses {
        private static final int ROUNDS = 2_000;
        private static final int MAX_PAUSE_NS = 400_000;

        /** One size for each way of a block: records, cells, loans. */
        private static final int[] SIZES = {1, 1, 1, 1, 200, 5_000, 10_000, 20_000, 70_000, 300_000};

        private static final int LARGEST = 300_000;
        private static final long LATE_NS = 80_000_000;

        public static void main(String[] args) {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                Random random = new Random(Long.parseLong(args[0]) + session.rank());
                Random common = new Random(Long.parseLong(args[0]));
                MemorySegment memory = session.allocate(LARGEST);
                int late = 0;
                for (int round = 0; round < ROUNDS; round++) {
                    MemorySegment block = memory.asSlice(0, SIZES[common.nextInt(SIZES.length)]);
                    long beganNs = System.nanoTime();
                    if (session.rank() == 1) {
                        receive(channel, round, block);
                    }
                    pause(random);
                    channel.beginPacking(1 - session.rank(), 20, SECONDS)
                            .packInt(round)
                            .pack(block)
                            .endPacking(20, SECONDS);
                    if (session.rank() == 0) {
                        receive(channel, round, block);
                    }
                    late += System.nanoTime() - beganNs > LATE_NS ? 1 : 0;
                }
                System.out.println("late rounds: " + late);
            }
        }

        private static void receive(Channel channel, int round, MemorySegment block) {
            IncomingMessage in = channel.beginUnpacking(20, SECONDS).within(20, SECONDS);
            if (in.unpackInt() != round) {
                throw new AssertionError("round " + round + " is missing");
            }
            in.unpack(block);
            in.endUnpacking();
        }

        private static void pause(Random random) {
            switch (random.nextInt(3)) {
                case 0 -> LockSupport.parkNanos(1 + random.nextInt(MAX_PAUSE_NS));
                case 1 -> {
                    long endNs = System.nanoTime() + random.nextInt(50_000);
                    while (endNs - System.nanoTime() > 0) {
                        Thread.onSpinWait();
                    }
                }
                default -> {}
            }
        }
    }
}
