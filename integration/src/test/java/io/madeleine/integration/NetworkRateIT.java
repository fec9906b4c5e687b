package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Between two hosts on a network of 1 Gbit/s, large messages take what the network gives. */
@Tag("quiet")
@Tag("measures")
class NetworkRateIT {
    private static final int MEGABITS = 1_000;
    private static final int MTU_BYTES = 9_000;
    private static final double LEAST_SHARE = 0.95;
    private static final double LEAST_SHARE_WITH_LOSSES = 0.55; // 0.8 where nothing else takes the processors

    /** The limit lets 1 MB pass at once, after a pause. */
    private static final double MOST_SHARE = 1.02;

    @Test
    void shouldFillANetworkOfOneGigabit() throws Exception {
        try (TwoHosts hosts = new TwoHosts("mir")) {
            hosts.limit(MEGABITS, MTU_BYTES);
            assertFills(hosts, LEAST_SHARE, "networks=[tcp]", "tm.tcp.adapters.default.bind=0.0.0.0");
        }
    }

    /** Random losses are no sign of congestion: over tcp one datagram in a hundred costs nine tenths of the rate. */
    @Test
    void shouldFillANetworkOfOneGigabitThatLosesDatagrams() throws Exception {
        try (TwoHosts hosts = new TwoHosts("mil")) {
            hosts.limitWithShortQueue(MEGABITS, 100_000);
            assertFills(
                    hosts,
                    LEAST_SHARE_WITH_LOSSES,
                    "networks=[bip]",
                    "tm.bip.adapters.default.bind=0.0.0.0",
                    "tm.bip.faults.send.loss=0.01",
                    "tm.bip.faults.send.delay=0.5ms");
        }
    }

    private static void assertFills(TwoHosts hosts, double leastShare, String... settings) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .hosts(hosts.addresses(7313))
                .with("session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d")
                .with(settings)
                .arguments(leastShare * MEGABITS)
                .optimizing()
                .prefixed(hosts::prefix)
                .start()) {
            double megabits = Double.parseDouble(processes.awaitLine(1, "megabits "));
            System.out.println(megabits + " Mbit/s of " + MEGABITS);
            assertTrue(megabits >= leastShare * MEGABITS, () -> megabits + " Mbit/s\n" + processes);
            assertTrue(megabits <= MOST_SHARE * MEGABITS, () -> megabits + " Mbit/s: nothing was limited");
            processes.awaitAll();
        }
    }

    /**
     * Rank 0 sends messages of 1 MiB; rank 1 says how much payload came in the best of some periods, since what else
     * the machine does can only take from it. Rank 1 ends it when a period was good enough.
     */
    static final class Program {
        private static final int BYTES = 1 << 20;
        private static final int WARM_UP = 60;
        private static final int PERIODS = 10; // the rate grows while the JVMs compile
        private static final int PERIOD = 100;

        public static void main(String[] args) {
            double enough = Double.parseDouble(args[0]);
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                MemorySegment block = session.allocate(BYTES);
                transfer(session.rank(), channel, block, WARM_UP);
                double best = 0;
                for (int period = 0; period < PERIODS && best < enough; period++) {
                    long beginNs = System.nanoTime();
                    transfer(session.rank(), channel, block, PERIOD);
                    best = Math.max(best, 8e-6 * BYTES * PERIOD / ((System.nanoTime() - beginNs) / 1e9));
                    best = agree(session.rank(), channel, best);
                }
                if (session.rank() == 1) {
                    System.out.println("megabits " + best);
                }
            }
        }

        /** What rank 1 has measured, for both. */
        private static double agree(int rank, Channel channel, double best) {
            if (rank == 1) {
                channel.beginPacking(0).packDouble(best).endPacking();
                return best;
            }
            IncomingMessage in = channel.beginUnpacking();
            double told = in.unpackDouble();
            in.endUnpacking();
            return told;
        }

        private static void transfer(int rank, Channel channel, MemorySegment block, int count) {
            for (int number = 0; number < count; number++) {
                if (rank == 0) {
                    channel.beginPacking(1).pack(block).endPacking();
                } else {
                    IncomingMessage in = channel.beginUnpacking();
                    in.unpack(block);
                    in.endUnpacking();
                }
            }
        }
    }
}
