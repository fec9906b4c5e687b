package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Ten thousand virtual threads, each of which sends a request over the same channel and waits for its reply. If each
 * reply or each end of a message woke all who wait, this would take minutes.
 */
@Tag("quiet")
@Tag("measures")
class RepliesIT {
    private static final int THREADS = 10_000;
    private static final int CALLS = 5;

    /** 16 to 40 us while one is woken for each reply; over sci, some 500 us if all were. */
    private static final double MAX_PROCESSOR_US = 200;

    @ParameterizedTest
    @MethodSource("networksAndWaits")
    void shouldServeTenThousandVirtualThreadsThatWaitForReplies(String network, Program.Waiting waiting)
            throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over(network)
                .arguments(THREADS, CALLS, waiting)
                .start()) {
            processes.assertSuccess();
            assertEquals(
                    List.of(Integer.toString(THREADS * CALLS)), processes.out(0).linesAfter("replies: "));
            double us = Double.parseDouble(processes.awaitLine(0, "us of processor for each: "));
            System.out.println(network + ", " + waiting + ": " + us + " us of processor for each");
            assertTrue(us < MAX_PROCESSOR_US, processes::toString);
        }
    }

    private static Stream<Arguments> networksAndWaits() {
        return Stream.concat(
                Cases.always("sci, UNPACK", "tcp, SIGNAL"), Cases.thoroughly("sci, SIGNAL", "tcp, UNPACK"));
    }

    /** Rank 0 asks, rank 1 answers. Prints how many replies came, how fast, and what that cost. */
    static final class Program {
        private static final int END = -1;

        /** How a thread waits for its reply. */
        enum Waiting {
            /** Each on a signal of its own; the channel's handler gives it. */
            SIGNAL,
            /** In {@code beginUnpacking}: whoever is first takes the reply. */
            UNPACK
        }

        private final Channel channel;
        private final int threads;
        private final int calls;
        private final Waiting waiting;
        private final Caller[] callers;
        private final AtomicInteger replies = new AtomicInteger();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        private static final class Caller {
            final Signal signal;
            volatile int answered;

            Caller(Signal signal) {
                this.signal = signal;
            }
        }

        private Program(Session session, String[] args) {
            channel = session.channel();
            threads = Integer.parseInt(args[0]);
            calls = Integer.parseInt(args[1]);
            waiting = Waiting.valueOf(args[2]);
            callers = new Caller[threads];
            for (int i = 0; i < threads; i++) {
                callers[i] = new Caller(session.newSignal());
            }
        }

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                if (session.rank() == 0) {
                    new Program(session, args).ask();
                } else {
                    answer(session.channel());
                }
            }
        }

        private static void answer(Channel channel) {
            while (true) {
                IncomingMessage in = channel.beginUnpacking(60, SECONDS);
                int caller = in.unpackInt();
                in.endUnpacking();
                if (caller == END) {
                    return;
                }
                channel.beginPacking(0, 60, SECONDS).packInt(caller).endPacking(60, SECONDS);
            }
        }

        private void ask() throws InterruptedException {
            if (waiting == Waiting.SIGNAL) {
                channel.onMessage(this::handle);
            }
            OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            CountDownLatch done = new CountDownLatch(threads);
            long cpuNs = system.getProcessCpuTime();
            long beganNs = System.nanoTime();
            for (int i = 0; i < threads; i++) {
                int caller = i;
                Thread.ofVirtual().start(() -> {
                    try {
                        callAll(caller);
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    } finally {
                        done.countDown();
                    }
                });
            }
            if (!done.await(50, SECONDS)) {
                throw new AssertionError("only " + replies + " replies came; " + done.getCount() + " threads wait");
            }
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
            double seconds = (System.nanoTime() - beganNs) / 1e9;
            System.out.println("replies: " + replies);
            System.out.println("replies/s: " + Math.round(replies.get() / seconds));
            System.out.println(
                    "us of processor for each: " + (system.getProcessCpuTime() - cpuNs) / 1e3 / replies.get());
            channel.beginPacking(1).packInt(END).endPacking();
        }

        private void callAll(int number) {
            Caller caller = callers[number];
            for (int call = 1; call <= calls; call++) {
                channel.beginPacking(1, 60, SECONDS).packInt(number).endPacking(60, SECONDS);
                if (waiting == Waiting.UNPACK) {
                    handle(channel.beginUnpacking(60, SECONDS));
                    continue;
                }
                int expected = call;
                if (!caller.signal.await(() -> caller.answered >= expected, 60, SECONDS)) {
                    throw new AssertionError("no reply to call " + call + " of thread " + number);
                }
            }
        }

        private void handle(IncomingMessage in) {
            Caller caller = callers[in.unpackInt()];
            in.endUnpacking();
            replies.incrementAndGet();
            caller.answered++; // one message at a time
            caller.signal.signal();
        }
    }
}
