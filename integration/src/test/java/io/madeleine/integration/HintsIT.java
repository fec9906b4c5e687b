package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the hint of a channel costs and gains where answers take a millisecond. */
@Tag("quiet")
@Tag("measures")
class HintsIT {
    private static final int ROUNDS = 3;
    private static final double BUSY_US = 1_000;
    private static final String[] HINTS = {"cpu", "throughput", "auto", "latency"};

    @Test
    void shouldSpendTheProcessorsTimeAsTheHintSays() throws Exception {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "no processor to spare: nobody spins");
        Ranks ranks = Ranks.of(2, Program.class).optimizing();
        for (String hint : HINTS) {
            ranks = ranks.with("channels." + hint + ".network=sci", "channels." + hint + ".hint=" + hint);
        }
        try (Processes processes = ranks.arguments((Object[]) HINTS).start()) {
            processes.assertSuccess();
            double[][] us = new double[HINTS.length][];
            for (int i = 0; i < HINTS.length; i++) {
                us[i] = processes.out(0).linesAfter(HINTS[i] + ", us of processor for each: ").stream()
                        .mapToDouble(Double::parseDouble)
                        .toArray();
                System.out.println(HINTS[i] + ": " + Arrays.toString(us[i]) + " us of processor for each call, "
                        + processes.out(0).linesAfter(HINTS[i] + ", us from the answer to its receiver, median: ")
                        + " us from the answer to its receiver");
            }
            double delayUs =
                    processes.out(0).linesAfter("latency, us from the answer to its receiver, median: ").stream()
                            .mapToDouble(Double::parseDouble)
                            .min()
                            .orElseThrow();
            assumeTrue(delayUs < BUSY_US, () -> "this machine is too busy: who spins has to wait, too\n" + processes);
            double spinning =
                    Arrays.stream(us[3]).max().orElseThrow(); // where others wanted the processor, it was less
            assertTrue(2 * least(us[2]) < spinning && 3 * least(us[0]) < spinning, processes::toString);
        }
    }

    private static double least(double... values) {
        return Arrays.stream(values).min().orElseThrow();
    }

    /** Rank 0 calls over one channel after the other, rank 1 takes a millisecond for each answer. */
    static final class Program {
        private static final int CALLS = 150;
        private static final long ANSWER_NS = 1_000_000;

        public static void main(String[] args) {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            try (Session session = Session.open()) {
                for (String hint : args) {
                    call(session.channel(hint)); // the compilers have their say
                }
                for (int round = 0; round < ROUNDS; round++) {
                    for (String hint : args) {
                        measure(session.channel(hint), threads);
                    }
                }
            }
        }

        private static void measure(Channel channel, ThreadMXBean threads) {
            long cpuNs = threads.getCurrentThreadCpuTime();
            double delayUs = call(channel);
            if (channel.session().rank() == 0) {
                String hint = channel.name();
                System.out.println(hint + ", us of processor for each: "
                        + (threads.getCurrentThreadCpuTime() - cpuNs) / 1000 / CALLS);
                System.out.println(hint + ", us from the answer to its receiver, median: " + delayUs);
            }
        }

        /** Returns how long answers take to their receiver, the median. */
        private static double call(Channel channel) {
            long[] delaysNs = new long[CALLS];
            for (int i = 0; i < CALLS; i++) {
                if (channel.session().rank() == 0) {
                    send(channel, 0);
                    long sentNs = receive(channel);
                    delaysNs[i] = System.nanoTime() - sentNs; // one clock for both processes
                } else {
                    receive(channel);
                    LockSupport.parkNanos(ANSWER_NS);
                    send(channel, System.nanoTime());
                }
            }
            Arrays.sort(delaysNs);
            return delaysNs[CALLS / 2] / 1e3;
        }

        private static void send(Channel channel, long value) {
            channel.beginPacking(1 - channel.session().rank(), 20, SECONDS)
                    .packLong(value)
                    .endPacking(20, SECONDS);
        }

        private static long receive(Channel channel) {
            IncomingMessage in = channel.beginUnpacking(20, SECONDS);
            long value = in.unpackLong();
            in.endUnpacking();
            return value;
        }
    }
}
