package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions that sleep while nothing comes, and wake up when something does. */
@Tag("quiet")
class BlockingIT {
    private static final int MAX_PERMILLE = 10;

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
    @CsvSource({"tcp, block", "sci, block", "sci, adaptive", "dma, block", "bip, block"})
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
        private static final int PERIODS = 6; // the system counts ticks of 10 ms, and one is a percent
        private static final long PERIOD_MS = 1_000;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                for (int i = 0; i < 100; i++) {
                    exchange(channel, i);
                }
                Thread waiting = (session.rank() % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual())
                        .start(() -> receive(channel, 1000));
                Thread.sleep(500); // the compilers have their say
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

        /**
         * In the quietest of some periods: what waiting costs it costs in each, what the JVM does in the background
         * not.
         */
        private static long leastPermille() throws InterruptedException {
            OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            long least = Long.MAX_VALUE;
            for (int i = 0; i < PERIODS; i++) {
                long beganNs = System.nanoTime();
                long before = system.getProcessCpuTime();
                Thread.sleep(PERIOD_MS);
                long usedNs = system.getProcessCpuTime() - before;
                least = Math.min(least, usedNs * 1000 / (System.nanoTime() - beganNs));
            }
            return least;
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
