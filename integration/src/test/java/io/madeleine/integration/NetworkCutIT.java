package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two network namespaces stand for two hosts, and the link between them is cut. Skipped where that is not allowed. */
class NetworkCutIT {
    private static final long PEER_TIMEOUT_MS = 3_000;
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
                .with("session.secret=known to both", "peer-timeout=" + PEER_TIMEOUT_MS + "ms")
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
                    String line = processes.awaitLine(rank, "failed " + wait + " ");
                    long afterMs = Long.parseLong(line.split(" ")[0]) - cutMs;
                    assertTrue(afterMs <= PEER_TIMEOUT_MS + SLACK_MS, () -> "after " + afterMs + " ms\n" + processes);
                    assertTrue(
                            afterMs >= PEER_TIMEOUT_MS / 2, () -> "too soon, after " + afterMs + " ms\n" + processes);
                    assertTrue(line.contains("madeleine.peer-timeout"), line);
                }
                assertEquals(
                        List.of(Integer.toString(1 - rank)),
                        processes.out(rank).linesAfter("told of "),
                        processes::toString);
            }
            processes.awaitAll();
            assertEquals(0, processes.exitCode(), processes::toString);
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
