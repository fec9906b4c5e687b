package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two network namespaces stand for two hosts, and the link between them is cut. Skipped where that is not allowed. */
@Tag("waits")
class NetworkCutIT {
    private static final long PEER_TIMEOUT_MS = 2_000;
    private static final long SLACK_MS = 2_000;
    private TwoHosts hosts;

    @BeforeEach
    void makeHosts() throws InterruptedException {
        hosts = new TwoHosts("mit");
    }

    @AfterEach
    void removeHosts() {
        if (hosts != null) {
            hosts.close();
        }
    }

    @Test
    void shouldReportTheSilenceOfAHostThatIsCutOff() throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .hosts(hosts.addresses(7311))
                .with("session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d", "peer-timeout=" + PEER_TIMEOUT_MS + "ms")
                .with("tm.tcp.adapters.default.bind=0.0.0.0", "channels.side.network=tcp")
                .over("tcp")
                .prefixed(hosts::prefix)
                .start()) {
            processes.awaitLine(0, "flowing");
            processes.awaitLine(1, "flowing");
            long cutMs = System.currentTimeMillis();
            assertTrue(hosts.cut());
            for (int rank = 0; rank < 2; rank++) {
                for (String wait : List.of("stream", "begin")) {
                    assertToldInTime(processes, rank, wait, cutMs, "madeleine.peer-timeout");
                }
            }
            processes.awaitAll();
            for (int rank = 0; rank < 2; rank++) {
                assertEquals(
                        List.of(Integer.toString(1 - rank)),
                        processes.out(rank).linesAfter("told of "),
                        processes::toString);
            }
            assertEquals(0, processes.exitCode(), processes::toString);
        }
    }

    /** Both still reach the server where they met, so that only their connection can tell. */
    @Test
    void shouldReportTheSilenceOfAnIdleConnectionAndTellItsPeer() throws Exception {
        List<String> ends = hosts.addLink();
        try (Processes processes = Ranks.of(2, Listener.class)
                .arguments(ends.get(0), ends.get(1))
                .hosts(hosts.addresses(7312))
                .with("session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d", "peer-timeout=" + PEER_TIMEOUT_MS + "ms")
                .over("tcp")
                .prefixed(hosts::prefix)
                .start()) {
            processes.awaitLine(0, "flowing");
            awaitAcknowledgements();
            long cutMs = System.currentTimeMillis();
            assertTrue(hosts.cutSecond());
            String idle = processes.awaitLine(0, "failed receive ");
            long afterMs = Long.parseLong(idle.split(" ")[0]) - cutMs;
            assertTrue(afterMs <= PEER_TIMEOUT_MS + SLACK_MS, () -> "after " + afterMs + " ms\n" + processes);
            assertTrue(idle.contains("its host gave no sign for madeleine.peer-timeout"), idle);
            String told = processes.awaitLine(1, "failed send ");
            long toldMs = Long.parseLong(told.split(" ")[0]) - cutMs;
            assertTrue(toldMs <= PEER_TIMEOUT_MS + SLACK_MS, () -> "after " + toldMs + " ms\n" + processes);
            assertTrue(told.contains("it has lost its connection with this process"), told);
            processes.awaitAll();
        }
    }

    /**
     * A kernel may put off for 200 ms to say that it has what came last: cut before that, an idle connection is not
     * one.
     */
    private static void awaitAcknowledgements() throws InterruptedException {
        Thread.sleep(300);
    }

    private static void assertToldInTime(Processes processes, int rank, String what, long cutMs, String reason)
            throws Exception {
        String line = processes.awaitLine(rank, "failed " + what + " ");
        long afterMs = Long.parseLong(line.split(" ")[0]) - cutMs;
        assertTrue(afterMs <= PEER_TIMEOUT_MS + SLACK_MS, () -> "after " + afterMs + " ms\n" + processes);
        assertTrue(afterMs >= PEER_TIMEOUT_MS / 2, () -> "too soon, after " + afterMs + " ms\n" + processes);
        assertTrue(line.contains(reason), line);
    }

    /**
     * Both still reach the server where they met. Where both have bytes under way their kernels ask for no sign of
     * life, and would repeat them for minutes; where neither has, they ask.
     */
    @ParameterizedTest
    @CsvSource({
        "nio, send, answered nothing for madeleine.peer-timeout (2000 ms)",
        "epoll, send, answered nothing for madeleine.peer-timeout (2000 ms)",
        "nio, listen, gave no sign for madeleine.peer-timeout"
    })
    void shouldReportAtBothEndsThatOnlyTheirLinkIsCut(String io, String what, String reason) throws Exception {
        List<String> ends = hosts.addLink();
        try (Processes processes = Ranks.of(2, Pair.class)
                .arguments(what, ends.get(0), ends.get(1))
                .hosts(hosts.addresses(7313))
                .with(
                        "session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d",
                        "peer-timeout=" + PEER_TIMEOUT_MS + "ms",
                        "tm.tcp.io=" + io)
                .java("--enable-native-access=ALL-UNNAMED")
                .over("tcp")
                .prefixed(hosts::prefix)
                .start()) {
            processes.awaitLine(0, "flowing");
            processes.awaitLine(1, "flowing");
            awaitAcknowledgements();
            long cutMs = System.currentTimeMillis();
            assertTrue(hosts.cutSecond());
            for (int rank = 0; rank < 2; rank++) {
                assertToldInTime(processes, rank, what, cutMs, reason);
            }
            processes.awaitAll();
        }
    }

    /** Its kernel answers that there is no room; only its own host could know that it is stopped, and waits. */
    @Test
    void shouldWaitForAStoppedProcessOfAnotherHostWhoseHostAnswers() throws Exception {
        List<List<String>> places = List.of(hosts.prefix(0), hosts.prefix(0), hosts.prefix(1));
        List<String> addresses = hosts.addresses(7314);
        try (Processes processes = Ranks.of(3, Flood.class)
                .hosts(List.of(addresses.get(0), addresses.get(0).split(":")[0], addresses.get(1)))
                .with(
                        "session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d",
                        "peer-timeout=1s",
                        "tm.tcp.adapters.default.bind=0.0.0.0")
                .over("tcp")
                .prefixed(places::get)
                .start()) {
            processes.awaitLine(1, "flowing");
            processes.signal(1, "STOP");
            processes.awaitLine(2, "full");
            Thread.sleep(2_500); // more than twice the timeout
            processes.signal(1, "CONT");
            processes.assertSuccess();
            for (int rank = 0; rank < 3; rank++) {
                assertEquals(List.of(), processes.out(rank).linesAfter("told of "), processes::toString);
            }
        }
    }

    /** Rank 2 sends to rank 1 more than all buffers hold. */
    static final class Flood {
        private static final int MESSAGES = 64;

        public static void main(String[] args) {
            try (Session session = Session.open()) {
                session.onPeerFailure((rank, cause) -> Program.say("told of " + rank + ": " + cause));
                Channel channel = session.channel();
                MemorySegment block = session.allocate(1 << 20);
                for (int number = 0; session.rank() == 2 && number < MESSAGES; number++) {
                    OutgoingMessage out =
                            channel.beginPacking(1).packInt(number).pack(block);
                    try {
                        out.endPacking(1, SECONDS);
                    } catch (DeadlineExceededException e) {
                        Program.say("full");
                        out.endPacking(20, SECONDS);
                    }
                }
                for (int number = 0; session.rank() == 1 && number < MESSAGES; number++) {
                    IncomingMessage in = channel.beginUnpacking(20, SECONDS).within(20, SECONDS);
                    if (in.unpackInt() != number) {
                        throw new AssertionError("message " + number + " is missing");
                    }
                    in.unpack(block);
                    in.endUnpacking();
                    if (number == 0) {
                        Program.say("flowing");
                        LockSupport.parkNanos(3_000_000_000L); // until it is stopped, for longer than that
                    }
                }
                if (session.rank() < 2) { // the last to have sent is the last to leave
                    channel.beginUnpacking(20, SECONDS).endUnpacking();
                } else {
                    channel.beginPacking(0).endPacking();
                    channel.beginPacking(1).endPacking();
                }
            }
        }
    }

    /** Both send now and then, or wait for what never comes. */
    static final class Pair {
        public static void main(String[] args) {
            int self = Integer.parseInt(System.getProperty("madeleine.session.rank"));
            try (Session session = Session.open("tm.tcp.adapters.default.bind=" + args[1 + self])) {
                Channel channel = session.channel();
                channel.beginPacking(1 - self).packInt(1).endPacking(20, SECONDS);
                Program.untilFailure(args[0], () -> {
                    receive(channel);
                    Program.say("flowing");
                    if (args[0].equals("listen")) {
                        receive(channel);
                    }
                    while (true) {
                        channel.beginPacking(1 - self, 20, SECONDS).packInt(1).endPacking(20, SECONDS);
                        LockSupport.parkNanos(50_000_000);
                    }
                });
                LockSupport.parkNanos(1_000_000_000); // a connection is only suspected at first: its peer may have left
            }
        }

        private static void receive(Channel channel) {
            IncomingMessage in = channel.beginUnpacking(20, SECONDS);
            in.unpackInt();
            in.endUnpacking();
        }
    }

    /** Rank 1 sends now and then, and what is on its way when the link is cut hides the silence from its kernel. */
    static final class Listener {
        public static void main(String[] args) {
            String rank = System.getProperty("madeleine.session.rank");
            String end = args[args.length - 2 + Integer.parseInt(rank)];
            // rank 1 finds out by itself, too, but its peer is to be faster
            long timeoutMs = PEER_TIMEOUT_MS + (rank.equals("0") ? 0 : SLACK_MS);
            try (Session session =
                    Session.open("tm.tcp.adapters.default.bind=" + end, "peer-timeout=" + timeoutMs + "ms")) {
                Channel channel = session.channel();
                if (session.rank() == 0) {
                    Program.untilFailure("receive", () -> {
                        for (int number = 0; ; number++) {
                            IncomingMessage in = channel.beginUnpacking(20, SECONDS);
                            in.unpackInt();
                            in.endUnpacking();
                            if (number == 5) {
                                Program.say("flowing");
                            }
                        }
                    });
                    LockSupport.parkNanos(
                            1_000_000_000); // a connection is only suspected at first: its peer may have left
                } else {
                    Program.untilFailure("send", () -> {
                        while (true) {
                            channel.beginPacking(0, 20, SECONDS).packInt(1).endPacking(20, SECONDS);
                            LockSupport.parkNanos(100_000_000);
                        }
                    });
                }
            }
        }
    }

    /** Rank 0 sends and rank 1 receives, until that fails; both also wait for a message that never comes. */
    static final class Program {
        public static void main(String[] args) throws InterruptedException {
            try (Session session = Session.open()) {
                session.onPeerFailure((rank, _) -> say("told of " + rank));
                Channel channel = session.channel();
                MemorySegment block = session.allocate(1 << 20);
                Thread waiting = Thread.ofPlatform()
                        .start(() -> untilFailure(
                                "begin",
                                () -> session.channel("side").beginUnpacking().unpackInt()));
                untilFailure("stream", () -> {
                    for (int number = 0; ; number++) {
                        if (session.rank() == 0) {
                            channel.beginPacking(1, 20, SECONDS)
                                    .packInt(number)
                                    .pack(block)
                                    .endPacking(20, SECONDS);
                        } else {
                            IncomingMessage in =
                                    channel.beginUnpacking(20, SECONDS).within(20, SECONDS);
                            if (in.unpackInt() != number) {
                                throw new AssertionError("message " + number + " is missing");
                            }
                            in.unpack(block);
                            in.endUnpacking();
                        }
                        if (number == 100) {
                            say("flowing");
                        }
                    }
                });
                waiting.join();
            }
        }

        private static synchronized void say(String line) {
            System.out.println(line);
        }

        private static void untilFailure(String name, Runnable work) {
            try {
                work.run();
            } catch (PeerFailedException e) {
                say("failed " + name + " " + System.currentTimeMillis() + " " + e.getMessage());
            }
        }
    }
}
