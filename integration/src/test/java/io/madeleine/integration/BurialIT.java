package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Each of three ranks streams numbered messages to each other; one connection is reset by the kernel, of control or
 * data, at either end. An account of what each rank receives tells whether something came behind a gap, or was sent by
 * a rank that had been given up before.
 */
@Tag("waits")
class BurialIT {
    private static final long PATIENCE_MS = 5_000;

    /** Rank 2 lives on, and nobody hears of it: it is given up by all, and has to know. */
    @ParameterizedTest
    @CsvSource({"tcp, true", "tcp, false", "sci, true"})
    void shouldEndOnBothSidesIfTheControlConnectionOfARankIsCut(String network, boolean itsEnd) throws Exception {
        try (Processes processes = start(network)) {
            int port = serverPort(processes);
            Ends control = Ends.all().stream()
                    .filter(ends -> ends.pid == processes.pid(2) && ends.remotePort == port)
                    .findFirst()
                    .orElseThrow();
            long cutMs = System.currentTimeMillis();
            (itsEnd ? control : control.otherEnd()).cut();
            for (int rank = 0; rank < 2; rank++) {
                assertInTime(cutMs, processes.awaitLine(rank, "told of 2 "));
                assertInTime(cutMs, processes.awaitLine(2, "told of " + rank + " "));
                String failure = processes.awaitLine(2, "failed send " + rank + " ");
                assertInTime(cutMs, failure);
                assertSendSaysWhy(failure);
            }
            String alone = processes.awaitLine(2, "failed receive ");
            assertInTime(cutMs, alone);
            assertSaysWhy(alone);
            checkAccounts(processes);
            assertEquals(1, processes.out(0).linesAfter("told of ").size(), processes::toString);
            assertEquals(1, processes.out(1).linesAfter("told of ").size(), processes::toString);
        }
    }

    /** Ranks 1 and 2 give each other up, and go on with rank 0. */
    @ParameterizedTest
    @CsvSource({"1", "2"})
    void shouldEndOnBothSidesIfADataConnectionIsCut(int rank) throws Exception {
        try (Processes processes = start("tcp")) {
            List<Ends> all = Ends.all();
            Ends data = all.stream()
                    .filter(ends -> ends.pid == processes.pid(rank))
                    .filter(ends -> all.stream()
                            .anyMatch(other -> other.pid == processes.pid(3 - rank) && other.isOtherEndOf(ends)))
                    .findFirst()
                    .orElseThrow();
            long cutMs = System.currentTimeMillis();
            data.cut();
            for (int one = 1; one <= 2; one++) {
                assertInTime(cutMs, processes.awaitLine(one, "told of " + (3 - one) + " "));
                assertInTime(cutMs, processes.awaitLine(one, "failed send " + (3 - one) + " "));
            }
            checkAccounts(processes);
            for (int one = 1; one <= 2; one++) {
                assertEquals(1, processes.out(one).linesAfter("told of ").size(), processes::toString);
            }
        }
    }

    private static Processes start(String network) throws Exception {
        assumeTrue(Ends.canCut(), "connections cannot be cut here: that needs root, and ss -K");
        return Ranks.of(3, Program.class).over(network).start().onceSaid("flowing", 0, 1, 2);
    }

    private static int serverPort(Processes processes) throws Exception {
        return Integer.parseInt(processes.awaitLine(0, "port "));
    }

    private static void assertInTime(long cutMs, String line) {
        long afterMs = Long.parseLong(line.split(" ")[0]) - cutMs;
        assertTrue(afterMs <= PATIENCE_MS, () -> "after " + afterMs + " ms: " + line);
    }

    /**
     * A peer may break its connection off before this process has noticed that its own control connection is cut. A
     * send over a socket may then fail before the peer's last word has been read.
     */
    private static void assertSendSaysWhy(String failure) {
        if (!failure.contains("sending failed")) {
            assertSaysWhy(failure);
        }
    }

    private static void assertSaysWhy(String failure) {
        assertTrue(failure.contains("given") && failure.contains("up"), failure);
        assertTrue(
                failure.contains("control connection") || failure.contains("told that this process is gone"), failure);
    }

    private static void checkAccounts(Processes processes) throws Exception {
        processes.awaitAll();
        for (int rank = 0; rank < 3; rank++) {
            assertEquals(List.of(), processes.out(rank).linesAfter("gap "), processes::toString);
            assertEquals(List.of(), processes.out(rank).linesAfter("late "), processes::toString);
            assertTrue(processes.out(rank).lines().contains("done"), processes::toString);
        }
    }

    /** One end of a connection within this machine. */
    private record Ends(long pid, int localPort, int remotePort) {
        static List<Ends> all() throws IOException, InterruptedException {
            List<Ends> all = new ArrayList<>();
            for (String line : run("ss", "-Htnp", "state", "established")) {
                String[] words = line.trim().split("\\s+");
                int pid = line.indexOf("pid=");
                if (pid >= 0) {
                    all.add(new Ends(
                            Long.parseLong(line.substring(pid + 4).split(",")[0]), port(words[2]), port(words[3])));
                }
            }
            return all;
        }

        private static int port(String address) {
            return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
        }

        static boolean canCut() throws InterruptedException {
            try {
                return !run("ss", "-V").isEmpty()
                        && System.getProperty("user.name").equals("root");
            } catch (IOException _) {
                return false;
            }
        }

        boolean isOtherEndOf(Ends other) {
            return localPort == other.remotePort && remotePort == other.localPort;
        }

        Ends otherEnd() {
            return new Ends(-1, remotePort, localPort);
        }

        void cut() throws IOException, InterruptedException {
            List<String> cut = run("ss", "-HKtn", "sport = " + localPort + " and dport = " + remotePort);
            assertEquals(1, cut.size(), () -> this + ": " + cut);
        }

        private static List<String> run(String... words) throws IOException, InterruptedException {
            Process process =
                    new ProcessBuilder(words).redirectErrorStream(true).start();
            List<String> lines = process.inputReader().lines().toList();
            assertTrue(process.waitFor(10, TimeUnit.SECONDS));
            return lines;
        }
    }

    /** Sends to both peers, receives from both, and keeps account. */
    static final class Program {
        private static final int BLOCK_BYTES = 200_000;
        private static final int LARGE_EVERY = 16;
        private static final int FLOWING = 100;
        private static final long AFTERWARDS_MS = 700;

        /** From the call of the listener until no message of the peer begins any more, on a busy machine. */
        private static final long SETTLING_MS = 100;

        private static final int END = -1;

        private final Session session;
        private final Channel channel;
        private final Map<Integer, Long> toldMs = new ConcurrentHashMap<>();
        private final CountDownLatch over = new CountDownLatch(1);
        private volatile long endMs = Long.MAX_VALUE;

        Program(Session session) {
            this.session = session;
            this.channel = session.channel();
        }

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                new Program(session).run();
            }
            System.out.println("done");
        }

        private void run() throws InterruptedException {
            if (session.rank() == 0) {
                say("port " + System.getProperty("madeleine.session.hosts").split("[:,]")[1]);
            }
            session.onPeerFailure((rank, cause) -> {
                long nowMs = System.currentTimeMillis();
                toldMs.put(rank, nowMs);
                over.countDown();
                say("told of " + rank + " " + nowMs + " " + cause.getMessage());
            });
            List<Thread> threads = new ArrayList<>();
            for (int peer = 0; peer < session.size(); peer++) {
                int to = peer;
                if (peer != session.rank()) {
                    threads.add(Thread.ofPlatform().start(() -> untilFailure("send " + to, () -> send(to))));
                }
            }
            threads.add(Thread.ofPlatform().start(() -> untilFailure("receive", this::receive)));
            over.await();
            Thread.sleep(AFTERWARDS_MS); // whoever has been given up has time to go on
            endMs = System.currentTimeMillis();
            for (Thread thread : threads) {
                thread.join();
            }
        }

        private void send(int peer) {
            MemorySegment block = session.allocate(BLOCK_BYTES);
            for (int number = 0; ; number++) {
                boolean last = System.currentTimeMillis() >= endMs;
                OutgoingMessage out = channel.beginPacking(peer, 20, SECONDS)
                        .packLong(System.currentTimeMillis())
                        .packInt(last ? END : number);
                if (number % LARGE_EVERY == 0 && !last) {
                    out.pack(block);
                }
                out.endPacking(20, SECONDS);
                if (last) {
                    return;
                }
                LockSupport.parkNanos(500_000);
            }
        }

        private void receive() {
            MemorySegment block = session.allocate(BLOCK_BYTES);
            int[] next = new int[session.size()];
            int[] failed = new int[session.size()];
            boolean flowing = false;
            int ended = 0;
            while (ended + toldMs.size() < session.size() - 1) {
                IncomingMessage in = channel.beginUnpacking(20, SECONDS).within(20, SECONDS);
                int from = in.remote();
                try {
                    long sentMs = in.unpackLong();
                    Long givenUpMs = toldMs.get(from);
                    if (givenUpMs != null && sentMs > givenUpMs + SETTLING_MS) {
                        say("late of " + from + ", sent " + (sentMs - givenUpMs) + " ms after");
                    }
                    int number = in.unpackInt();
                    if (number != END && (number != next[from] || failed[from] > 0)) {
                        say("gap of " + from + ": " + number + " after " + (next[from] - 1) + ", failed "
                                + failed[from]);
                    }
                    next[from] = number + 1;
                    if (number == END) {
                        ended++;
                        over.countDown();
                    } else if (number % LARGE_EVERY == 0) {
                        in.unpack(block);
                    }
                    in.endUnpacking();
                } catch (PeerFailedException _) {
                    failed[from]++;
                }
                if (!flowing && next[(session.rank() + 1) % 3] > FLOWING && next[(session.rank() + 2) % 3] > FLOWING) {
                    flowing = true;
                    say("flowing");
                }
            }
            if (toldMs.size() == session.size() - 1) {
                channel.beginUnpacking(20, SECONDS); // from nobody
            }
        }

        private void untilFailure(String name, Runnable work) {
            try {
                work.run();
            } catch (MadeleineException e) {
                say("failed " + name + " " + System.currentTimeMillis() + " " + e.getMessage());
            }
        }

        private static synchronized void say(String line) {
            System.out.println(line);
        }
    }
}
