package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Sessions that are opened at run time, and sessions that cannot be opened. */
@Tag("waits")
@Execution(ExecutionMode.CONCURRENT)
class OpeningIT {
    private static final long OPEN_TIMEOUT_MS = 7_000;

    /** Who is refused does not wait for the timeout. */
    private static final long SOON_MS = OPEN_TIMEOUT_MS - 500;

    private static final long SLACK_MS = 10_000;

    @Test
    void shouldOpenTwoSessionsAtRunTimeAndUseBoth() throws Exception {
        int port = HostedProcesses.freePort();
        int other = HostedProcesses.freePort();
        try (Processes processes = Ranks.of(2, TwoSessions.class)
                .withoutSession()
                .arguments(port, other)
                .start()) {
            processes.assertSuccess();
        }
    }

    private static Ranks refused(int count, String... settings) {
        return Ranks.of(count, Refused.class)
                .with("session.open-timeout=" + OPEN_TIMEOUT_MS + "ms")
                .with(settings);
    }

    /** The error of a rank, which has to come in time. */
    private static String error(Processes processes, int rank, long withinMs) throws InterruptedException {
        String line = processes.awaitLine(rank, "refused ");
        String[] parts = line.split(" ", 2);
        assertTrue(Long.parseLong(parts[0]) <= withinMs, () -> "rank " + rank + " took " + line);
        return parts[1];
    }

    private static void assertContains(String part, String message) {
        assertTrue(message.contains(part), () -> "expected \"" + part + "\" in: " + message);
    }

    @Test
    @Tag("measures")
    void shouldRefuseAnotherSecretAndSaySoAtBothEnds() throws Exception {
        try (Processes processes = refused(2)
                .arguments("session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9")
                .start()) {
            String theirs = error(processes, 1, SOON_MS);
            assertContains("madeleine.session.secret", theirs);
            String ours = error(processes, 0, OPEN_TIMEOUT_MS + SLACK_MS);
            assertContains("rank 1 has not joined", ours);
            assertContains("secret", ours);
            processes.awaitAll();
            assertEquals(List.of(), processes.err(1).lines());
            List<String> warned = processes.err(0).lines();
            assertTrue(
                    warned.size() == 2 && warned.get(1).contains("a process does not know the session's secret"),
                    processes::toString);
            assertEquals(0, processes.exitCode(), processes::toString);
        }
    }

    @Test
    @Tag("measures")
    void shouldRefuseASecretOnTheCommandLineAndNotRepeatIt() throws Exception {
        try (Processes processes = Ranks.of(1, Refused.class)
                .withoutSession()
                .java("-Dmadeleine.session.secret=seen by everybody")
                .start()) {
            String said = error(processes, 0, SOON_MS);
            assertContains("madeleine.session.secret-file", said);
            assertContains("MADELEINE_SECRET", said);
            assertFalse(said.contains("seen by everybody"), said);
            processes.assertSuccess();
        }
    }

    @Test
    void shouldNameTheProcessThatIsMissing() throws Exception {
        String port = "127.0.0.1:" + HostedProcesses.freePort();
        try (Processes processes =
                refused(2).hosts(List.of(port, "127.0.0.1", "127.0.0.1")).start()) {
            for (int rank = 0; rank < 2; rank++) {
                String message = error(processes, rank, OPEN_TIMEOUT_MS + SLACK_MS);
                assertContains("rank 2 has not joined", message);
                assertContains("madeleine.session.open-timeout", message);
            }
            processes.assertSuccess();
        }
    }

    @Test
    void shouldSayThatRankZeroIsMissing() throws Exception {
        String port = "127.0.0.1:" + HostedProcesses.freePort();
        try (Processes processes = refused(1)
                .hosts(List.of(port, "127.0.0.1"))
                .with("session.rank=1")
                .start()) {
            String message = error(processes, 0, OPEN_TIMEOUT_MS + SLACK_MS);
            assertContains("rank 0 cannot be reached at " + port, message);
            processes.assertSuccess();
        }
    }

    @Test
    @Tag("measures")
    void shouldSayThatThePortIsTaken() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = "127.0.0.1:" + taken.getLocalPort();
            try (Processes processes =
                    refused(1).hosts(List.of(port, "127.0.0.1")).start()) {
                String message = error(processes, 0, SOON_MS);
                assertContains("cannot listen at " + port, message);
                assertContains("madeleine.session.hosts", message);
                processes.assertSuccess();
            }
        }
    }

    /** Rank 0 calls in vain; rank 1, which is not called, hears why. */
    @Test
    void shouldNameTheAddressAtWhichNobodyAnswersInBothProcesses() throws Exception {
        try (Processes processes = refused(2, "networks=[bip]", "tm.bip.adapters.default.advertise=127.0.0.9")
                .start()) {
            for (int rank = 0; rank < 2; rank++) {
                assertContains("127.0.0.9", error(processes, rank, OPEN_TIMEOUT_MS + SLACK_MS));
            }
            processes.assertSuccess();
        }
    }

    @Test
    void shouldFallBackToTcpWhereSharedMemoryIsFull() throws Exception {
        try (FullMemory memory = FullMemory.of("4k");
                Processes processes = Ranks.of(2, Refused.class)
                        .with("tm.sci.directory=" + memory.path())
                        .prefixed(_ -> memory.command())
                        .start()) {
            processes.awaitAll();
            for (int rank = 0; rank < 2; rank++) {
                assertEquals(List.of("tcp"), processes.out(rank).linesAfter("opened over "), processes::toString);
                assertContains("sci", processes.err(rank).toString());
                assertContains(memory.path(), processes.err(rank).toString());
            }
        }
    }

    /** All have room for their own files, not all for what they share with others. */
    @Test
    void shouldFallBackToTcpForThePairsThatDoNotFitAndSayItOnce() throws Exception {
        try (FullMemory memory = FullMemory.of("320k");
                Processes processes = Ranks.of(4, Talking.class)
                        .with("tm.sci.directory=" + memory.path())
                        .prefixed(_ -> memory.command())
                        .start()) {
            processes.awaitAll();
            assertEquals(0, processes.exitCode(), processes::toString);
            List<String> networks = new ArrayList<>();
            List<String> lines = new ArrayList<>();
            for (int rank = 0; rank < 4; rank++) {
                networks.addAll(processes.out(rank).linesAfter("reached over "));
                processes.err(rank).lines().stream()
                        .filter(line -> line.contains("there is no room"))
                        .forEach(lines::add);
            }
            assertEquals(12, networks.size(), processes::toString);
            assertTrue(networks.contains("sci") && networks.contains("tcp"), processes::toString);
            assertEquals(1, lines.size(), processes::toString);
            assertContains("conf/many-processes.conf", lines.getFirst());
            assertContains("connections go by tcp", lines.getFirst());
        }
    }

    /** Says by which network each other one is reached, and exchanges a message with it. */
    static final class Talking {
        public static void main(String[] args) {
            try (Session session = Session.open()) {
                List<Completion> sent = new ArrayList<>();
                for (int rank = 0; rank < session.size(); rank++) {
                    if (rank != session.rank()) {
                        System.out.println("reached over " + session.channel().network(rank));
                        sent.add(session.channel()
                                .beginPacking(rank)
                                .pack(MemorySegment.ofArray(new byte[10_000]))
                                .endPackingAsync());
                    }
                }
                for (int i = 1; i < session.size(); i++) {
                    IncomingMessage in = session.channel().beginUnpacking();
                    in.unpack(MemorySegment.ofArray(new byte[10_000]));
                    in.endUnpacking();
                }
                sent.forEach(Completion::await);
            }
        }
    }

    @Test
    void shouldSayThatSharedMemoryIsFullWhereItIsAskedFor() throws Exception {
        for (String size : List.of("4k", "150k")) {
            try (FullMemory memory = FullMemory.of(size);
                    Processes processes = refused(2, "tm.sci.directory=" + memory.path())
                            .over("sci")
                            .prefixed(_ -> memory.command())
                            .start()) {
                String all = error(processes, 0, OPEN_TIMEOUT_MS + SLACK_MS)
                        + error(processes, 1, OPEN_TIMEOUT_MS + SLACK_MS);
                assertContains(memory.path(), all);
                assertContains("madeleine.tm.sci.directory", all);
                processes.awaitAll();
            }
        }
    }

    /** Says how opening a session failed, and after how many milliseconds. */
    static final class Refused {
        public static void main(String[] args) {
            long beganNs = System.nanoTime();
            String[] settings = new String[args.length];
            for (int i = 0; i < args.length; i++) {
                settings[i] = args[i] + System.getProperty(HostedProcesses.NUMBER);
            }
            try (Session session = Session.open(settings)) {
                System.out.println("opened over " + session.channel().network(1 - session.rank()));
            } catch (MadeleineException e) {
                System.out.println("refused " + (System.nanoTime() - beganNs) / 1_000_000 + " " + e.getMessage());
            }
        }
    }

    /** Two sessions between the same processes, with ranks the other way round. */
    static final class TwoSessions {
        public static void main(String[] args) {
            int number = Integer.getInteger(HostedProcesses.NUMBER);
            try (Session second = open("second", args[1], 1 - number, "tcp")) {
                try (Session first = open("first", args[0], number, "sci")) {
                    for (int round = 0; round < 100; round++) {
                        send(first, round);
                        send(second, 1000 + round);
                        receive(second, 1000 + round);
                        receive(first, round);
                    }
                }
                send(second, 7);
                receive(second, 7);
            }
        }

        private static Session open(String name, String port, int rank, String network) {
            return Session.open(Map.of(
                    "session.name", name,
                    "session.hosts", List.of("127.0.0.1:" + port, "127.0.0.1"),
                    "session.rank", rank,
                    "session.secret", "5f0d1c8e9b7a42638e21c4d5a6f70b9d",
                    "channels.default.network", network));
        }

        private static void send(Session session, int number) {
            session.channel()
                    .beginPacking(1 - session.rank())
                    .packInt(number)
                    .packInt(session.rank())
                    .endPacking();
        }

        private static void receive(Session session, int number) {
            IncomingMessage in = session.channel().beginUnpacking();
            int found = in.unpackInt();
            int sender = in.unpackInt();
            in.endUnpacking();
            if (found != number || sender != 1 - session.rank()) {
                throw new AssertionError("expected " + number + ", found " + found + " from rank " + sender);
            }
        }
    }
}
