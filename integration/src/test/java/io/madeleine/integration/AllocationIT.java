package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.api.BlockLayout;
import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.StringJoiner;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a message costs in garbage. */
@Tag("quiet")
@Tag("measures")
class AllocationIT {
    /** What the JVM allocates in the background, in the quietest of several spans of time. */
    private static final long TINY_BYTES = 2_000;

    private static final int TELLING_MESSAGES = 1_000;
    private static final int TELLING_MEASUREMENTS = 3;

    @ParameterizedTest
    @MethodSource("networksAndWaits")
    void shouldAllocateNothingPerMessage(String network, String wait) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over(network)
                .with("wait.mode=" + wait)
                .optimizing()
                .start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                for (String kind : Program.KINDS) {
                    String found = processes.awaitLine(rank, kind + ": ");
                    System.out.println(network + ", " + wait + ", " + kind + ", rank " + rank + ": " + found);
                    assertTrue(leastBytes(found) <= TINY_BYTES, processes::toString);
                }
            }
        }
    }

    private static Stream<Arguments> networksAndWaits() {
        return Stream.concat(Cases.always("sci, spin", "tcp, block"), Cases.thoroughly("tcp, spin", "sci, block"));
    }

    /** The least of several measurements "messages:bytes" with so many messages that they say something. */
    private static long leastBytes(String measurements) {
        long[] telling = Stream.of(measurements.split(" "))
                .map(measurement -> measurement.split(":"))
                .filter(pair -> Long.parseLong(pair[0]) >= TELLING_MESSAGES)
                .mapToLong(pair -> Long.parseLong(pair[1]))
                .toArray();
        assumeTrue(telling.length >= TELLING_MEASUREMENTS, () -> "this machine is too busy: " + measurements);
        return Arrays.stream(telling).min().orElseThrow();
    }

    /**
     * Ping-pong over memory of the session; after a warm-up, says several times what all threads allocated, until both
     * processes have measured often enough and have been quiet once.
     */
    static final class Program {
        static final String IN_RANGES = " in ranges";
        static final String[] KINDS = {"8 bytes", "4096 bytes", "40000 bytes", "40000 bytes" + IN_RANGES};

        private static final int RANGE_BYTES = 32;
        private static final int WARM_UP = 8_000;
        private static final int MESSAGES = 3_000;
        private static final int MOST_MEASUREMENTS = 15; // while the JVMs compile they allocate

        /** For all measurements of a kind. */
        private static final long MEASURED_AT_MOST_NS = 5_000_000_000L;

        /** For each ten messages; on a busy machine there are fewer of them. */
        private static final long AT_MOST_NS = 3_000_000L;

        /** Memory of the session, of which every other 32 bytes make up the layout. */
        private record Block(MemorySegment memory, BlockLayout layout, boolean inRanges) {
            static Block of(Session session, String kind) {
                int bytes = Integer.parseInt(kind.substring(0, kind.indexOf(' ')));
                MemorySegment ranges = session.allocate(2L * bytes);
                return new Block(
                        session.allocate(bytes),
                        BlockLayout.strided(ranges, 0, RANGE_BYTES, 2 * RANGE_BYTES, bytes / RANGE_BYTES),
                        kind.endsWith(IN_RANGES));
            }

            void pack(OutgoingMessage out) {
                if (inRanges) {
                    out.pack(layout, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                } else {
                    out.pack(memory, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                }
            }

            void unpack(IncomingMessage in) {
                if (inRanges) {
                    in.unpack(layout, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                } else {
                    in.unpack(memory, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                }
            }
        }

        public static void main(String[] args) {
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            try (Session session = Session.open()) {
                for (String kind : KINDS) {
                    Block block = Block.of(session, kind);
                    int _ = pingPong(session, block, WARM_UP);
                    StringJoiner measurements = new StringJoiner(" ");
                    int telling = 0;
                    boolean quiet = false;
                    boolean isEnough = false;
                    long endNs = System.nanoTime() + MEASURED_AT_MOST_NS;
                    for (int i = 0; i < MOST_MEASUREMENTS && !isEnough; i++) {
                        long beforeBytes = threads.getTotalThreadAllocatedBytes();
                        int messages = pingPong(session, block, MESSAGES);
                        long allocatedBytes = threads.getTotalThreadAllocatedBytes() - beforeBytes;
                        measurements.add(messages + ":" + allocatedBytes);
                        telling += messages >= TELLING_MESSAGES ? 1 : 0;
                        quiet |= messages >= TELLING_MESSAGES && allocatedBytes <= TINY_BYTES;
                        isEnough = agree(
                                session, quiet && telling >= TELLING_MEASUREMENTS || endNs - System.nanoTime() <= 0);
                    }
                    System.out.println(kind + ": " + measurements);
                }
            }
        }

        /** Rank 0 decides when it is enough, by number or, on a busy machine, by time. */
        private static int pingPong(Session session, Block block, int atMost) {
            Channel channel = session.channel();
            long endNs = System.nanoTime() + atMost / 10 * AT_MOST_NS;
            int more = 1;
            int messages = 0;
            while (more != 0) {
                if (session.rank() == 0) {
                    more = messages < atMost && endNs - System.nanoTime() > 0 ? 1 : 0;
                    send(channel, block, 1, more);
                    int _ = receive(channel, block);
                } else {
                    more = receive(channel, block);
                    send(channel, block, 0, more);
                }
                messages++;
            }
            return messages;
        }

        /** Whether both have enough. */
        private static boolean agree(Session session, boolean hasEnough) {
            Channel channel = session.channel();
            int peer = 1 - session.rank();
            channel.beginPacking(peer).packInt(hasEnough ? 1 : 0).endPacking();
            IncomingMessage in = channel.beginUnpacking();
            boolean peerHasEnough = in.unpackInt() == 1;
            in.endUnpacking();
            return hasEnough && peerHasEnough;
        }

        private static void send(Channel channel, Block block, int peer, int more) {
            try (OutgoingMessage out = channel.beginPacking(peer)) {
                out.packInt(more);
                block.pack(out);
                out.endPacking();
            }
        }

        private static int receive(Channel channel, Block block) {
            try (IncomingMessage in = channel.beginUnpacking()) {
                int more = in.unpackInt();
                block.unpack(in);
                in.endUnpacking();
                return more;
            }
        }
    }
}
