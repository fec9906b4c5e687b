package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A process that computes for some seconds, without a call, still answers its peer over bip. */
@Tag("quiet")
@Tag("measures")
class ComputingProcessIT {
    private static final int COMPUTED_SECONDS = 5;
    private static final int MOST_USED_MS = 750;

    private static Ranks ranks(String conduct, String peerTimeout) {
        return Ranks.of(2, Program.class)
                .over("bip")
                .with("peer-timeout=" + peerTimeout, "wait.mode=adaptive")
                .arguments(conduct);
    }

    @Test
    void shouldNeitherLoseTheReceiverNorFloodIt() throws Exception {
        try (Processes processes = ranks("stay", "2s").start()) {
            processes.assertSuccess();
            assertEquals(List.of(), processes.out(0).linesAfter("told of"), processes::toString);
            assertEquals(List.of(), processes.out(1).linesAfter("told of"), processes::toString);
            assertEquals("0", processes.awaitLine(1, "datagrams dropped: "), processes::toString);
            int used = Integer.parseInt(processes.awaitLine(0, "ms of the processor: "));
            System.out.println("the sender used " + used + " ms of the processor in " + COMPUTED_SECONDS + " s");
            assertTrue(used < MOST_USED_MS, processes::toString);
        }
    }

    @Test
    void shouldDeliverWhatItsPeerSentBeforeItClosed() throws Exception {
        try (Processes processes = ranks("leave", "20s").start()) {
            processes.assertSuccess();
            int closedMs = Integer.parseInt(processes.awaitLine(0, "closed after ms: "));
            assertTrue(closedMs > 3_000, () -> "the receiver did not keep its peer: " + processes);
        }
    }

    /** Rank 0 sends more than the windows take; rank 1 takes the first message, computes, and takes the others. */
    static final class Program {
        private static final int SMALL = 400;
        private static final int SMALL_BYTES = 512;
        private static final int LARGE = 4;
        private static final int LARGE_BYTES = 1 << 20;

        private final Session session;
        private final Channel channel;

        Program(Session session) {
            this.session = session;
            this.channel = session.channel();
        }

        public static void main(String[] args) throws IOException {
            boolean stays = args[0].equals("stay");
            long beganNs;
            try (Session session = Session.open()) {
                session.onPeerFailure((rank, cause) -> System.out.println("told of " + rank + ": " + cause));
                Program program = new Program(session);
                if (session.rank() == 1) {
                    program.receive(stays);
                } else if (stays) {
                    program.send();
                    session.channel().beginUnpacking(30, SECONDS).endUnpacking();
                } else {
                    program.sendLast();
                }
                beganNs = System.nanoTime();
            }
            System.out.println("closed after ms: " + (System.nanoTime() - beganNs) / 1_000_000);
        }

        private void send() {
            channel.beginPacking(1).packInt(-1).endPacking();
            long cpuNs = cpuNs();
            for (int i = 0; i < SMALL; i++) {
                sendOne(i, SMALL_BYTES);
            }
            for (int i = 0; i < LARGE; i++) {
                sendOne(SMALL + i, LARGE_BYTES);
            }
            System.out.println("ms of the processor: " + (cpuNs() - cpuNs) / 1_000_000);
        }

        /** More than the receiver has room for, and less than fits in both windows. */
        private void sendLast() {
            channel.beginPacking(1).packInt(-1).endPacking();
            for (int i = 0; i < SMALL; i++) {
                sendOne(i, SMALL_BYTES / 2);
            }
        }

        private void sendOne(int number, int bytes) {
            MemorySegment block = session.allocate(bytes);
            Contents.fill(block, number);
            channel.beginPacking(1).packInt(number).pack(block).endPacking(30, SECONDS);
        }

        private void receive(boolean stays) throws IOException {
            IncomingMessage first = channel.beginUnpacking(30, SECONDS);
            assertEquals(-1, first.unpackInt());
            first.endUnpacking();
            compute();
            for (int i = 0; i < SMALL; i++) {
                receiveOne(i, stays ? SMALL_BYTES : SMALL_BYTES / 2);
            }
            if (stays) {
                for (int i = 0; i < LARGE; i++) {
                    receiveOne(SMALL + i, LARGE_BYTES);
                }
                System.out.println("datagrams dropped: " + dropped());
                channel.beginPacking(0).endPacking();
            }
        }

        private void receiveOne(int number, int bytes) {
            MemorySegment block = session.allocate(bytes);
            IncomingMessage in = channel.beginUnpacking(30, SECONDS);
            assertEquals(number, in.unpackInt());
            in.unpack(block);
            in.endUnpacking();
            Contents.check(block, number, "message " + number);
        }

        private static void compute() {
            long beganNs = System.nanoTime();
            long sum = 0;
            while (System.nanoTime() - beganNs < COMPUTED_SECONDS * 1_000_000_000L) {
                for (int i = 0; i < 100_000; i++) {
                    sum = sum * 31 + i;
                }
            }
            System.out.println("computed " + sum);
        }

        private static long cpuNs() {
            return ProcessHandle.current()
                    .info()
                    .totalCpuDuration()
                    .orElseThrow()
                    .toNanos();
        }

        /** How many datagrams the system dropped because the sockets of this process were full. */
        private static long dropped() throws IOException {
            List<String> sockets;
            try (var links = Files.list(Path.of("/proc/self/fd"))) {
                sockets = links.map(Program::target)
                        .filter(target -> target.startsWith("socket:["))
                        .map(target -> target.substring(8, target.length() - 1))
                        .toList();
            }
            return Files.readAllLines(Path.of("/proc/net/udp")).stream()
                    .skip(1)
                    .map(line -> line.trim().split("\\s+"))
                    .filter(fields -> sockets.contains(fields[9]))
                    .mapToLong(fields -> Long.parseLong(fields[12]))
                    .sum();
        }

        private static String target(Path link) {
            try {
                return Files.readSymbolicLink(link).toString();
            } catch (IOException _) {
                return ""; // closed meanwhile
            }
        }
    }
}
