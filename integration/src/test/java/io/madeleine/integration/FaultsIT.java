package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults that the configuration asks for come about on every network, and break nothing that is promised. */
@Tag("waits")
@Execution(ExecutionMode.CONCURRENT)
class FaultsIT {
    private static final String ANY = "faults.links.any-to-any.";

    @ParameterizedTest
    @MethodSource("networksAndWaits")
    @Tag("measures")
    void shouldDelayEachMessageAndNotOneByTheOther(String network, String wait) throws Exception {
        try (Processes processes = Ranks.of(2, Delayed.class)
                .over(network)
                .with("wait.mode=" + wait, ANY + "delay=20ms", ANY + "jitter=10ms")
                .start()) {
            assertEndsWell(processes);
            int echoMs = Integer.parseInt(processes.awaitLine(0, "shortest echo, ms: "));
            assertTrue(echoMs >= 40, processes::toString);
            int rowMs = Integer.parseInt(processes.awaitLine(0, "row of messages, ms: "));
            assertTrue(rowMs < Delayed.ROW * 20 / 2, processes::toString);
        }
    }

    private static Stream<Arguments> networksAndWaits() {
        return Stream.concat(
                Cases.always("tcp, adaptive", "sci, block", "bip, block"),
                Cases.thoroughly("tcp, block", "sci, adaptive"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci", "bip"})
    @Tag("measures")
    void shouldStallOneDirectionAndDeliverEverythingAfterwards(String network) throws Exception {
        try (Processes processes = Ranks.of(2, Stalled.class)
                .over(network)
                .with("faults.links.0-to-1.stall-after=500ms", "faults.links.0-to-1.stall-for=3s")
                .start()) {
            assertEndsWell(processes);
            int gapMs = Integer.parseInt(processes.awaitLine(1, "longest gap, ms: "));
            assertTrue(gapMs > 2_000, processes::toString);
            int otherMs = Integer.parseInt(processes.awaitLine(0, "longest gap, ms: "));
            assertTrue(otherMs < 2_000, processes::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci", "bip"})
    void shouldCutAConnectionForBothSides(String network) throws Exception {
        try (Processes processes = Ranks.of(2, Cut.class)
                .over(network)
                .with("faults.links.0-to-1.cut-after=500ms")
                .start()) {
            assertEndsWell(processes);
            String receiver = processes.awaitLine(1, "lost: ");
            assertTrue(receiver.contains("madeleine.faults.links.0-to-1.cut-after"), processes::toString);
            processes.awaitLine(0, "lost: ");
        }
    }

    /** A session with faults says so, and nothing else. */
    private static void assertEndsWell(Processes processes) throws Exception {
        processes.awaitAll();
        assertEquals(0, processes.exitCode(), processes::toString);
        for (int rank = 0; rank < 2; rank++) {
            List<String> lines = processes.err(rank).lines();
            assertTrue(lines.size() <= 2, processes::toString);
            assertTrue(
                    lines.stream().anyMatch(line -> line.contains("madeleine.faults injects faults")),
                    processes::toString);
        }
    }

    /** Rank 0 sends blocks that rank 1 sends back, and then a row of messages. */
    static final class Delayed {
        static final int ROW = 500;

        public static void main(String[] args) {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                MemorySegment block = session.allocate(3 << 20);
                long shortestNs = Long.MAX_VALUE;
                for (int bytes : new int[] {0, 8, 5_000, 100_000, 3 << 20, 8}) {
                    MemorySegment part = block.asSlice(0, bytes);
                    long startNs = System.nanoTime();
                    if (session.rank() == 0) {
                        Contents.fill(part, bytes);
                        channel.send(1, part, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                        part.fill((byte) 0);
                    }
                    int _ = channel.receive(part, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    Contents.check(part, bytes, "a block of " + bytes + " bytes");
                    shortestNs = Math.min(shortestNs, System.nanoTime() - startNs);
                    if (session.rank() == 1) {
                        channel.send(0, part, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                    }
                }
                System.out.println("shortest echo, ms: " + shortestNs / 1_000_000);
                long startNs = System.nanoTime();
                for (int i = 0; i < ROW; i++) {
                    if (session.rank() == 0) {
                        channel.beginPacking(1).packInt(i).endPacking();
                    } else {
                        expect(channel, i);
                    }
                }
                if (session.rank() == 0) {
                    expect(channel, ROW);
                } else {
                    channel.beginPacking(0).packInt(ROW).endPacking();
                }
                System.out.println("row of messages, ms: " + (System.nanoTime() - startNs) / 1_000_000);
            }
        }
    }

    private static void expect(Channel channel, int number) {
        try (var in = channel.beginUnpacking(20, TimeUnit.SECONDS)) {
            int found = in.unpackInt();
            in.endUnpacking();
            if (found != number) {
                throw new AssertionError("expected " + number + ", found " + found);
            }
        }
    }

    /** Both send a number each few milliseconds, and notice how long they wait for the other's. */
    static final class Stalled {
        private static final int MESSAGES = 700;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                Thread sender = Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < MESSAGES; i++) {
                        channel.beginPacking(1 - session.rank()).packInt(i).endPacking();
                        try {
                            Thread.sleep(5);
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                });
                long longestNs = 0;
                for (int i = 0; i < MESSAGES; i++) {
                    long startNs = System.nanoTime();
                    expect(channel, i);
                    longestNs = Math.max(longestNs, System.nanoTime() - startNs);
                }
                System.out.println("longest gap, ms: " + longestNs / 1_000_000);
                sender.join();
            }
        }
    }

    /** Both send and receive until the connection is lost. */
    static final class Cut {
        public static void main(String[] args) {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                for (int i = 0; i < 2_000; i++) {
                    channel.beginPacking(1 - session.rank()).packInt(i).endPacking();
                    expect(channel, i);
                    Thread.sleep(5);
                }
                System.out.println("nothing was lost");
            } catch (PeerFailedException e) {
                System.out.println("lost: " + e.getMessage());
            } catch (MadeleineException | InterruptedException e) {
                System.out.println("unexpected: " + e);
            }
        }
    }
}
