package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Sessions over shared memory of the 64 MiB that a container has, and of less; and with little direct memory. */
class ScarceMemoryIT {
    private static final Duration PATIENCE = Duration.ofSeconds(150);

    private static Ranks crowd(int processes, FullMemory memory, String... settings) {
        return Ranks.of(processes, Program.class)
                .over("sci")
                .with("tm.sci.directory=" + memory.path())
                .with(settings)
                .java("-Xmx32m", "-Xss512k", "-XX:ActiveProcessorCount=1")
                .prefixed(_ -> memory.command());
    }

    private static void assertAllHeardAll(Processes processes, int count) {
        for (int rank = 0; rank < count; rank++) {
            assertEquals(
                    List.of(Integer.toString(count - 1)), processes.out(rank).linesAfter("heard "));
        }
    }

    /** The last connections may be smaller, and that is said then. */
    @Test
    void shouldHoldEightProcessesByDefault() throws Exception {
        try (FullMemory memory = FullMemory.of("64m");
                Processes processes = crowd(8, memory).start()) {
            processes.awaitAll(PATIENCE);
            assertEquals(0, processes.exitCode(), processes::toString);
            assertAllHeardAll(processes, 8);
            for (int rank = 0; rank < 8; rank++) {
                List<String> said = processes.err(rank).lines();
                assertTrue(
                        said.isEmpty() || said.size() == 2 && said.get(1).contains("shared memory is scarce"),
                        processes::toString);
            }
        }
    }

    @Test
    void shouldHoldEightProcessesInFullSizeWithoutSingleCopy() throws Exception {
        try (FullMemory memory = FullMemory.of("64m");
                Processes processes =
                        crowd(8, memory, "tm.sci.dma.single-copy=off").start()) {
            processes.assertSuccess(PATIENCE);
            assertAllHeardAll(processes, 8);
        }
    }

    /** The same with adapters in one JVM is a test of tm-sci, which always runs. */
    @Test
    @EnabledIfSystemProperty(named = "thorough", matches = "true", disabledReason = "64 JVMs: only with -Pthorough")
    @Timeout(value = 4, unit = java.util.concurrent.TimeUnit.MINUTES)
    void shouldHoldSixtyFourProcessesByConfiguration() throws Exception {
        Path profile =
                Path.of("..", "conf", "many-processes.conf").toAbsolutePath().normalize();
        try (FullMemory memory = FullMemory.of("64m");
                Processes processes =
                        crowd(64, memory).arguments("--conf=" + profile).start()) {
            processes.assertSuccess(PATIENCE);
            assertAllHeardAll(processes, 64);
        }
    }

    @Test
    void shouldUseSmallerSegmentsAndSaySoWhereFullOnesDoNotFit() throws Exception {
        try (FullMemory memory = FullMemory.of("1m");
                Processes processes = crowd(3, memory).start()) {
            processes.awaitAll(PATIENCE);
            assertAllHeardAll(processes, 3);
            String said = processes.err(0).toString();
            assertTrue(said.contains("shared memory is scarce in " + memory.path()), processes::toString);
            assertTrue(said.contains("madeleine.tm.sci.directory"), processes::toString);
        }
    }

    /** What comes before it is asked for waits in direct memory, of which there is too little for all peers at once. */
    @Test
    void shouldReceiveFromMorePeersThanDirectMemorySuffices() throws Exception {
        try (Processes processes = Ranks.of(5, Senders.class)
                .over("bip")
                .java("-Xmx48m", "-XX:MaxDirectMemorySize=2m")
                .start()) {
            processes.awaitAll(PATIENCE);
            assertEquals(0, processes.exitCode(), processes::toString);
            assertEquals(List.of("20"), processes.out(0).linesAfter("received "));
            assertTrue(processes.err(0).toString().contains("for lack of memory"), processes::toString);
            assertTrue(processes.err(0).toString().contains("-XX:MaxDirectMemorySize"), processes::toString);
        }
    }

    /** What is sent waits in direct memory until it has arrived, and there is too little for all peers at once. */
    @Test
    void shouldSendToMorePeersThanDirectMemorySuffices() throws Exception {
        try (Processes processes = Ranks.of(5, Receivers.class)
                .over("bip")
                .java("-Xmx48m", "-XX:MaxDirectMemorySize=1600k")
                .start()) {
            processes.awaitAll(PATIENCE);
            assertEquals(0, processes.exitCode(), processes::toString);
            assertEquals(List.of("20"), processes.out(0).linesAfter("sent "));
            for (int rank = 1; rank < 5; rank++) {
                assertEquals(List.of("5"), processes.out(rank).linesAfter("received "));
            }
            assertTrue(processes.err(0).toString().contains("messages wait to be sent"), processes::toString);
            assertTrue(processes.err(0).toString().contains("-XX:MaxDirectMemorySize"), processes::toString);
        }
    }

    /** Rank 0 sends messages to all, each larger than the window of bip/long; they look at them later. */
    static final class Receivers {
        private static final int BYTES = 800_000;
        private static final int MESSAGES = 5;

        public static void main(String[] args) throws InterruptedException {
            try (Session session = Session.open(args)) {
                Channel channel = session.channel();
                MemorySegment block = MemorySegment.ofArray(new byte[BYTES]);
                if (session.rank() == 0) {
                    List<Completion> sent = new ArrayList<>();
                    Contents.fill(block, 7);
                    for (int i = 0; i < MESSAGES * (session.size() - 1); i++) {
                        sent.add(channel.beginPacking(1 + i % (session.size() - 1))
                                .pack(block)
                                .endPackingAsync());
                    }
                    sent.forEach(each -> each.await(60, SECONDS));
                    System.out.println("sent " + sent.size());
                    return;
                }
                Thread.sleep(2_000);
                int received = 0;
                for (; received < MESSAGES; received++) {
                    IncomingMessage in = channel.beginUnpacking(60, SECONDS).within(60, SECONDS);
                    in.unpack(block);
                    in.endUnpacking();
                    Contents.check(block, 7, "the block");
                }
                System.out.println("received " + received);
            }
        }
    }

    /** All send messages to rank 0, which looks at them later. */
    static final class Senders {
        private static final int BYTES = 300_000;
        private static final int MESSAGES = 5;

        public static void main(String[] args) throws InterruptedException {
            try (Session session = Session.open(args)) {
                Channel channel = session.channel();
                MemorySegment block = MemorySegment.ofArray(new byte[BYTES]);
                if (session.rank() > 0) {
                    Contents.fill(block, session.rank());
                    for (int i = 0; i < MESSAGES; i++) {
                        channel.beginPacking(0)
                                .packInt(session.rank())
                                .pack(block)
                                .endPacking();
                    }
                    return;
                }
                Thread.sleep(2_000);
                int received = 0;
                for (; received < MESSAGES * (session.size() - 1); received++) {
                    IncomingMessage in = channel.beginUnpacking(60, SECONDS).within(60, SECONDS);
                    int from = in.unpackInt();
                    in.unpack(block);
                    in.endUnpacking();
                    Contents.check(block, from, "the block of " + from);
                }
                System.out.println("received " + received);
            }
        }
    }

    /** Sends everybody a message of a small and a larger block, and receives one from everybody. */
    static final class Program {
        private static final int BYTES = 5_000;

        public static void main(String[] args) {
            try (Session session = Session.open(args)) {
                Channel channel = session.channel();
                List<Completion> sent = new ArrayList<>();
                for (int i = 1; i < session.size(); i++) {
                    MemorySegment block = MemorySegment.ofArray(new byte[BYTES]);
                    Contents.fill(block, session.rank());
                    sent.add(channel.beginPacking((session.rank() + i) % session.size())
                            .packInt(session.rank())
                            .pack(block)
                            .endPackingAsync());
                }
                int heard = 0;
                for (; heard < session.size() - 1; heard++) {
                    IncomingMessage in = channel.beginUnpacking(60, SECONDS).within(60, SECONDS);
                    int from = in.unpackInt();
                    MemorySegment block = MemorySegment.ofArray(new byte[BYTES]);
                    in.unpack(block);
                    in.endUnpacking();
                    Contents.check(block, from, "the block of " + from);
                }
                for (Completion completion : sent) {
                    if (!completion.await(60, SECONDS)) {
                        throw new AssertionError("a message is not sent");
                    }
                }
                System.out.println("heard " + heard);
            }
        }
    }
}
