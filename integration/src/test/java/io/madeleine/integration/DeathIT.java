package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.session.OnFailure;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A process is killed in the middle of messages, and two survive it. */
@Tag("waits")
class DeathIT {
    private static final int KILLED = 128 + 9;
    private static final long NOTICE_MS = 5_000;

    @ParameterizedTest
    @MethodSource("networksAndConducts")
    void shouldTellAllWhoWaitForAKilledPeerAndNobodyElse(String network, String conduct) throws Exception {
        try (Processes processes =
                ranks(network, 1, conduct).launched(OnFailure.CONTINUE).start()) {
            killAndCheck(processes, 1);
            assertEquals(KILLED, processes.exitCode(), processes::toString);
            assertEquals(List.of(), processes.err(0).lines());
            assertEquals(List.of(), processes.err(2).lines());
        }
    }

    /** The others are those of {@link #shouldSurviveTheRankWhereTheOthersMet}. */
    private static Stream<Arguments> networksAndConducts() {
        return Stream.concat(
                Cases.always("sci, streaming", "tcp, stuck"), Cases.thoroughly("tcp, streaming", "sci, stuck"));
    }

    @ParameterizedTest
    @CsvSource({"tcp, streaming", "sci, stuck"})
    void shouldSurviveTheRankWhereTheOthersMet(String network, String conduct) throws Exception {
        try (Processes processes = ranks(network, 0, conduct).start()) {
            killAndCheck(processes, 0);
            for (int rank = 1; rank <= 2; rank++) {
                String warning = processes.err(rank).toString();
                assertTrue(
                        processes.err(rank).lines().size() == 2
                                && warning.contains("rank 0 is gone")
                                && warning.contains("the session goes on"),
                        processes::toString);
            }
        }
    }

    private static Ranks ranks(String network, int victim, String conduct) {
        return Ranks.of(3, Program.class)
                .over(network)
                .with("channels.side.network=" + network, "wait.mode=adaptive")
                .arguments(victim, conduct);
    }

    private static void killAndCheck(Processes processes, int victim) throws Exception {
        for (int rank = 0; rank < 3; rank++) {
            processes.awaitLine(rank, "ready");
        }
        Thread.sleep(300); // so that all have come to their waits
        long killedMs = processes.kill(victim);
        processes.awaitAll();
        for (int rank = 0; rank < 3; rank++) {
            if (rank != victim) {
                check(processes.out(rank).lines(), victim, killedMs, processes);
            }
        }
    }

    private static void check(List<String> lines, int victim, long killedMs, Processes processes) {
        for (String wait : List.of("receive", "send", "begin")) {
            List<String> failed = lines.stream()
                    .filter(line -> line.startsWith("failed " + wait))
                    .toList();
            assertEquals(1, failed.size(), processes::toString);
            long afterMs = Long.parseLong(failed.getFirst().split(" ")[2]) - killedMs;
            assertTrue(afterMs <= NOTICE_MS, () -> wait + " failed " + afterMs + " ms after the death\n" + processes);
        }
        assertEquals(
                List.of("told of " + victim),
                lines.stream().filter(line -> line.startsWith("told")).toList(),
                processes::toString);
        assertTrue(lines.contains("anyone got 7"), processes::toString);
        assertTrue(lines.contains("alone") && lines.contains("done"), processes::toString);
    }

    /** The victim, and who survives it. */
    static final class Program {
        private static final int BLOCK_BYTES = 12 << 20;
        private static final int MESSAGES_UNTIL_READY = 3;
        private static final int ROUNDS = 100;

        private final Session session;
        private final Channel channel;
        private final Channel side;
        private final int victim;
        private final AtomicInteger told = new AtomicInteger();
        private final AtomicInteger flowing = new AtomicInteger();

        Program(Session session, int victim) {
            this.session = session;
            this.channel = session.channel();
            this.side = session.channel("side");
            this.victim = victim;
        }

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Program program = new Program(session, Integer.parseInt(args[0]));
                if (session.rank() == program.victim) {
                    program.die(args[1].equals("streaming"));
                } else {
                    program.survive(args[1].equals("streaming"));
                }
            }
        }

        private static synchronized void say(String line) {
            System.out.println(line);
        }

        private List<Integer> others() {
            List<Integer> others = new ArrayList<>(List.of(0, 1, 2));
            others.remove((Integer) session.rank());
            return others;
        }

        private static Thread start(Runnable work) {
            return Thread.ofPlatform().start(work);
        }

        // ---- the victim

        private void die(boolean streaming) throws InterruptedException {
            List<OutgoingMessage> open = new ArrayList<>();
            for (int peer : others()) {
                if (streaming) {
                    start(() -> sendForever(peer, () -> {}));
                    start(() -> receiveForever(peer, () -> {}));
                } else {
                    // a part of a message that is never ended; some of it leaves, or nothing, as the network likes
                    open.add(channel.beginPacking(peer)
                            .pack(MemorySegment.ofArray(new byte[100_000]))
                            .packInt(1));
                }
            }
            say("ready");
            Thread.sleep(60_000);
            throw new AssertionError("still alive, with " + open);
        }

        private void sendForever(int peer, Runnable afterEach) {
            MemorySegment block = session.allocate(BLOCK_BYTES);
            while (true) {
                channel.beginPacking(peer)
                        .packInt(1)
                        .pack(block, SendMode.CHEAPER, ReceiveMode.EXPRESS)
                        .pack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER)
                        .endPacking();
                afterEach.run();
            }
        }

        private void receiveForever(int peer, Runnable afterEach) {
            MemorySegment block = session.allocate(BLOCK_BYTES);
            while (true) {
                IncomingMessage in = channel.beginUnpacking(peer);
                in.unpackInt();
                in.unpack(block, SendMode.CHEAPER, ReceiveMode.EXPRESS);
                in.unpack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                in.endUnpacking();
                afterEach.run();
            }
        }

        // ---- the survivors

        private void survive(boolean streaming) throws InterruptedException {
            int other = 3 - victim - session.rank();
            session.onPeerFailure((rank, cause) -> {
                say("told of " + rank);
                told.incrementAndGet(); // lets this process end
            });
            List<Thread> waits = new ArrayList<>();
            waits.add(start(() -> untilFailure("receive", () -> {
                if (streaming) {
                    receiveForever(victim, this::flows);
                } else {
                    receiveWhatNeverEnds();
                }
            })));
            waits.add(start(() -> untilFailure("send", () -> sendForever(victim, this::flows))));
            waits.add(start(() -> untilFailure("begin", () -> side.beginUnpacking(victim))));
            Thread anyone = start(() -> {
                IncomingMessage in = side.beginUnpacking();
                say("anyone got " + in.unpackInt());
                in.endUnpacking();
            });
            if (!streaming) {
                say("ready");
            }
            for (Thread wait : waits) {
                wait.join();
            }
            side.beginPacking(other).packInt(7).endPacking();
            anyone.join();
            talk(other);
            while (told.get() == 0) {
                Thread.sleep(10);
            }
            farewell(other);
            say("done");
        }

        private void flows() {
            if (flowing.incrementAndGet() == 2 * MESSAGES_UNTIL_READY) {
                say("ready");
            }
        }

        private void receiveWhatNeverEnds() {
            IncomingMessage in = channel.beginUnpacking(victim);
            in.unpack(MemorySegment.ofArray(new byte[100_000]), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            in.unpackInt();
            in.unpackInt();
        }

        private void untilFailure(String name, Runnable work) {
            try {
                work.run();
            } catch (PeerFailedException e) {
                say("failed " + name + " " + System.currentTimeMillis() + " rank " + e.rank() + ": " + e.getMessage());
            }
        }

        private void talk(int other) {
            for (int round = 0; round < ROUNDS; round++) {
                channel.beginPacking(other).packInt(round).endPacking();
                IncomingMessage in = channel.beginUnpacking();
                if (in.remote() != other || in.unpackInt() != round) {
                    throw new AssertionError("round " + round + ": another message, from " + in.remote());
                }
                in.endUnpacking();
            }
        }

        /** The lower rank leaves first; then there is nobody left for the higher one to wait for. */
        private void farewell(int other) {
            if (session.rank() > other) {
                try {
                    channel.beginUnpacking();
                } catch (PeerFailedException e) {
                    if (e.rank() != -1) {
                        throw e;
                    }
                }
            }
            say("alone");
        }
    }
}
