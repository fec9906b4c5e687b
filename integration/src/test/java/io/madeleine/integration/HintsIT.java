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
import org.junit.jupiter.api.Test;

/** What the hint of a channel costs and gains where answers take a millisecond. */
class HintsIT {
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
            double[] us = new double[HINTS.length];
            for (int i = 0; i < HINTS.length; i++) {
                us[i] = Double.parseDouble(processes.awaitLine(0, HINTS[i] + ", us of processor for each: "));
                System.out.println(HINTS[i] + ": " + us[i] + " us of processor for each call, "
                        + processes.awaitLine(0, HINTS[i] + ", us from the answer to its receiver, median: ")
                        + " us from the answer to its receiver");
            }
            assertTrue(us[2] < us[3] && 3 * us[0] < us[3], processes::toString);
        }
    }

    /** Rank 0 calls over one channel after the other, rank 1 takes a millisecond for each answer. */
    static final class Program {
        private static final int CALLS = 400;
        private static final long ANSWER_NS = 1_000_000;

        public static void main(String[] args) {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            try (Session session = Session.open()) {
                for (String hint : args) {
                    call(session.channel(hint)); // the compilers have their say
                }
                for (String hint : args) {
                    long cpuNs = threads.getCurrentThreadCpuTime();
                    double delayUs = call(session.channel(hint));
                    if (session.rank() == 0) {
                        System.out.println(hint + ", us of processor for each: "
                                + (threads.getCurrentThreadCpuTime() - cpuNs) / 1000 / CALLS);
                        System.out.println(hint + ", us from the answer to its receiver, median: " + delayUs);
                    }
                }
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
