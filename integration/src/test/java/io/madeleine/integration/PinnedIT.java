package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that are bound to one processor each, as MPI launchers bind theirs. */
@Tag("quiet")
@Tag("measures")
class PinnedIT {
    private static final int MOST_OWN_PERCENT = 20;
    private static final int TRIES = 3; // a pause of the machine makes polls dearer

    /** A message arrives every millisecond, for which the session's own thread would otherwise spin all the time. */
    @ParameterizedTest
    @ValueSource(strings = {"spin", "adaptive"})
    void shouldLeaveTheProcessorToTheProgramThatComputesBetweenMessages(String wait) throws Exception {
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < TRIES && least >= MOST_OWN_PERCENT; i++) {
            least = Math.min(least, ownPercent(wait));
        }
        assertTrue(least < MOST_OWN_PERCENT, least + " % of what main used");
    }

    private static int ownPercent(String wait) throws Exception {
        try (Processes processes =
                pinned(Computes.class).with("wait.mode=" + wait).start()) {
            processes.assertSuccess();
            int percent = Integer.parseInt(processes.awaitLine(0, "percent of what main used: "));
            System.out.println(wait + ": " + percent + " % of what main used");
            return percent;
        }
    }

    /**
     * Each sees one processor, and yet neither needs the other's: who waits for the other does not sleep at once. While
     * the compilers of its own JVM need that one processor it does.
     */
    @Test
    void shouldSpinThoughEachProcessHasOneProcessor() throws Exception {
        try (Processes processes = pinned(Answers.class).start()) {
            processes.assertSuccess();
            int sleeps = Integer.parseInt(processes.awaitLine(0, "least sleeps: "));
            System.out.println(sleeps + " sleeps in " + Answers.ROUND_TRIPS + " round trips");
            assertTrue(sleeps < Answers.FEW_SLEEPS, processes::toString);
        }
    }

    private static Ranks pinned(Class<?> program) throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/taskset")), "taskset is not installed (util-linux)");
        List<Integer> processors = processors();
        assumeTrue(processors.size() >= 2, "needs two processors");
        return Ranks.of(2, program)
                .optimizing()
                .over("sci")
                .prefixed(rank -> List.of("/usr/bin/taskset", "-c", String.valueOf(processors.get(rank))));
    }

    /** The processors that this process may use, which a container may limit to any. */
    private static List<Integer> processors() throws IOException {
        String key = "Cpus_allowed_list:";
        List<Integer> all = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(key)) {
                for (String range : line.substring(key.length()).strip().split(",")) {
                    String[] ends = range.split("-");
                    IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]))
                            .forEach(all::add);
                }
            }
        }
        return all;
    }

    /**
     * Rank 0 computes, and has a handler called in the meantime; rank 1 sends to it. The first messages do not count:
     * the code that polls is not compiled then, and the compilers need the same processor.
     */
    static final class Computes {
        private static final int FIRST = 1_000;
        private static final int MESSAGES = FIRST + 700;
        private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                if (session.rank() == 1) {
                    for (int i = 0; i < MESSAGES; i++) {
                        channel.beginPacking(0).packInt(i).endPacking();
                        Thread.sleep(1);
                    }
                    return;
                }
                AtomicInteger handled = new AtomicInteger();
                channel.onMessage(message -> {
                    int _ = message.unpackInt();
                    message.endUnpacking();
                    handled.incrementAndGet();
                });
                long sum = computeUntil(handled, FIRST);
                long mainNs = THREADS.getCurrentThreadCpuTime();
                long ownNs = ownNs();
                sum += computeUntil(handled, MESSAGES);
                System.out.println("computed " + sum);
                System.out.println("percent of what main used: "
                        + (ownNs() - ownNs) * 100 / (THREADS.getCurrentThreadCpuTime() - mainNs));
            }
        }

        private static long computeUntil(AtomicInteger handled, int count) {
            long sum = 0;
            while (handled.get() < count) {
                for (int i = 0; i < 10_000; i++) {
                    sum = sum * 31 + i;
                }
            }
            return sum;
        }

        /** The processor time of the session's own threads. */
        private static long ownNs() {
            long own = 0;
            for (long id : THREADS.getAllThreadIds()) {
                var thread = THREADS.getThreadInfo(id);
                if (thread != null && thread.getThreadName().startsWith("madeleine-progress-")) {
                    own += THREADS.getThreadCpuTime(id);
                }
            }
            return own;
        }
    }

    /**
     * Rank 1 computes for less time than a thread spins, and sends back what rank 0 has sent. Rank 0 ends this when it
     * has hardly slept in a round.
     */
    static final class Answers {
        static final int ROUND_TRIPS = 2_000;
        static final int FEW_SLEEPS = ROUND_TRIPS / 10;
        private static final int ROUNDS = 25;
        private static final long COMPUTED_NS = 80_000;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                MemorySegment block = session.allocate(8);
                long least = Long.MAX_VALUE;
                boolean isLast = false;
                for (int round = 1; !isLast; round++) {
                    long before = sleeps();
                    for (int i = 0; i < ROUND_TRIPS; i++) {
                        roundTrip(channel, block, session.rank());
                    }
                    least = Math.min(least, sleeps() - before);
                    block.set(ValueLayout.JAVA_BOOLEAN, 0, least < FEW_SLEEPS || round == ROUNDS);
                    roundTrip(channel, block, session.rank());
                    isLast = block.get(ValueLayout.JAVA_BOOLEAN, 0);
                }
                System.out.println("least sleeps: " + least);
            }
        }

        private static void roundTrip(Channel channel, MemorySegment block, int rank) {
            int peer = 1 - rank;
            if (rank == 0) {
                channel.send(peer, block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            }
            int _ = channel.receive(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            if (rank == 1) {
                long untilNs = System.nanoTime() + COMPUTED_NS;
                while (untilNs - System.nanoTime() > 0) {
                    Thread.onSpinWait();
                }
                channel.send(peer, block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            }
        }

        /** How often this thread has given its processor away to wait. */
        private static long sleeps() throws IOException {
            String key = "voluntary_ctxt_switches:";
            return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                    .filter(line -> line.startsWith(key))
                    .mapToLong(
                            line -> Long.parseLong(line.substring(key.length()).strip()))
                    .sum();
        }
    }
}
