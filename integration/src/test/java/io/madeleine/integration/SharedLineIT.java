package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two streams over bip and one over tcp share a line of 100 Mbit/s with a short queue. */
@Tag("quiet")
@Tag("measures")
class SharedLineIT {
    private static final int MEGABITS = 100;
    private static final int QUEUE_BYTES = 100_000;
    private static final List<String> STREAMS = List.of("first", "second", "other");

    @Test
    void shouldLeaveEachStreamHalfOfAFairShare() throws Exception {
        try (TwoHosts hosts = new TwoHosts("mis")) {
            hosts.limitWithShortQueue(MEGABITS, QUEUE_BYTES);
            hosts.useLossBasedTcp();
            try (Processes processes = Ranks.of(2, Program.class)
                    .hosts(hosts.addresses(7314))
                    .with(
                            "session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d",
                            "networks=[bip, tcp]",
                            "tm.bip.adapters.default.bind=0.0.0.0",
                            "tm.tcp.adapters.default.bind=0.0.0.0",
                            "channels.first.network=bip",
                            "channels.second.network=bip",
                            "channels.other.network=tcp")
                    .prefixed(hosts::prefix)
                    .start()) {
                String line = processes.awaitLine(1, "megabits ");
                System.out.println(line + " Mbit/s of " + MEGABITS + ": bip, bip, tcp");
                double[] megabits = Arrays.stream(line.split(" "))
                        .mapToDouble(Double::parseDouble)
                        .toArray();
                double all = Arrays.stream(megabits).sum();
                assertTrue(all > 0.8 * MEGABITS && all < MEGABITS, () -> line + "\n" + processes);
                for (double each : megabits) {
                    assertTrue(each >= all / 3 / 2, () -> line + "\n" + processes);
                }
                processes.awaitAll();
            }
        }
    }

    /** Rank 0 sends over all channels at once; rank 1 says how much payload came over each in ten seconds. */
    static final class Program {
        private static final int BYTES = 64 * 1024;
        private static final long BEFORE_NS = 2_000_000_000L;
        private static final long MEASURED_NS = 10_000_000_000L;

        public static void main(String[] args) throws InterruptedException {
            try (Session session = Session.open()) {
                long beganNs = System.nanoTime();
                AtomicLongArray bytes = new AtomicLongArray(STREAMS.size());
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < STREAMS.size(); i++) {
                    int stream = i;
                    Channel channel = session.channel(STREAMS.get(i));
                    threads.add(Thread.ofPlatform().start(() -> {
                        MemorySegment block = session.allocate(BYTES);
                        if (session.rank() == 0) {
                            send(channel, block, beganNs);
                        } else {
                            receive(channel, block, bytes, stream, beganNs);
                        }
                    }));
                }
                for (Thread each : threads) {
                    each.join();
                }
                if (session.rank() == 1) {
                    System.out.printf(
                            Locale.ROOT,
                            "megabits %.1f %.1f %.1f%n",
                            megabits(bytes, 0),
                            megabits(bytes, 1),
                            megabits(bytes, 2));
                }
            }
        }

        private static double megabits(AtomicLongArray bytes, int stream) {
            return 8e3 * bytes.get(stream) / MEASURED_NS;
        }

        /** Sends until the time is over; the last block says so. */
        private static void send(Channel channel, MemorySegment block, long beganNs) {
            boolean isLast;
            do {
                isLast = System.nanoTime() - beganNs >= 2 * BEFORE_NS + MEASURED_NS;
                block.set(ValueLayout.JAVA_BOOLEAN, 0, isLast);
                channel.beginPacking(1).pack(block).endPacking();
            } while (!isLast);
        }

        private static void receive(
                Channel channel, MemorySegment block, AtomicLongArray bytes, int stream, long beganNs) {
            do {
                IncomingMessage in = channel.beginUnpacking();
                in.unpack(block);
                in.endUnpacking();
                long sinceNs = System.nanoTime() - beganNs;
                if (sinceNs >= BEFORE_NS && sinceNs < BEFORE_NS + MEASURED_NS) {
                    bytes.addAndGet(stream, BYTES);
                }
            } while (!block.get(ValueLayout.JAVA_BOOLEAN, 0));
        }
    }
}
