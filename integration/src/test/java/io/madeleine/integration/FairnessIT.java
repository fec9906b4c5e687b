package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A network over which messages pour in does not keep the session from serving another. */
@Tag("quiet")
@Tag("measures")
class FairnessIT {
    /**
     * Alone it would be tens of thousands; beside a flood both processes' processors are shared by four busy threads.
     */
    private static final int LEAST_ROUND_TRIPS = 50;

    private static final int LEAST_FLOOD = 10_000;

    @ParameterizedTest
    @CsvSource({"sci, tcp", "tcp, sci"})
    void shouldServeOneNetworkBesideAFloodOverAnother(String flooded, String other) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .with("channels.flood.network=" + flooded, "channels.calls.network=" + other)
                .start()) {
            processes.assertSuccess();
            int roundTrips = Integer.parseInt(processes.awaitLine(0, "round trips beside the flood: "));
            long flood = Long.parseLong(processes.awaitLine(0, "messages of the flood: "));
            System.out.println(
                    roundTrips + " round trips over " + other + " beside " + flood + " messages over " + flooded);
            assertTrue(roundTrips >= LEAST_ROUND_TRIPS, processes::toString);
            assertTrue(flood >= LEAST_FLOOD, processes::toString);
        }
    }

    /** Rank 1 floods and answers; rank 0 takes the flood and calls, each in a thread of its own. */
    static final class Program {
        private static final long DURATION_NS = 1_000_000_000;

        /** Where processors are few and slow. */
        private static final long LONGEST_NS = 15_000_000_000L;

        private static final int END = -1;

        private static final AtomicLong TAKEN = new AtomicLong();

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Channel flood = session.channel("flood");
                Channel calls = session.channel("calls");
                if (session.rank() == 0) {
                    Thread taker = Thread.ofPlatform().start(() -> take(flood));
                    call(calls);
                    taker.join();
                } else {
                    Thread answerer = Thread.ofPlatform().start(() -> answer(calls));
                    pour(flood, answerer);
                    answerer.join();
                }
            }
        }

        private static void send(Channel channel, int number) {
            channel.beginPacking(1 - channel.session().rank(), 20, SECONDS)
                    .packInt(number)
                    .endPacking(20, SECONDS);
        }

        private static int receive(Channel channel) {
            IncomingMessage in = channel.beginUnpacking(20, SECONDS);
            int number = in.unpackInt();
            in.endUnpacking();
            return number;
        }

        private static void pour(Channel flood, Thread answerer) {
            while (answerer.isAlive()) {
                for (int i = 0; i < 100; i++) {
                    send(flood, i);
                }
            }
            send(flood, END);
        }

        private static void take(Channel flood) {
            while (receive(flood) != END) {
                TAKEN.incrementAndGet();
            }
            System.out.println("messages of the flood: " + TAKEN);
        }

        private static void call(Channel calls) {
            int roundTrips = 0;
            long beganNs = System.nanoTime();
            long lastedNs = 0;
            while (lastedNs < DURATION_NS || (isTooFew(roundTrips) && lastedNs < LONGEST_NS)) {
                send(calls, roundTrips);
                if (receive(calls) != roundTrips) {
                    throw new AssertionError("another answer than that to call " + roundTrips);
                }
                roundTrips++;
                lastedNs = System.nanoTime() - beganNs;
            }
            System.out.println("round trips beside the flood: " + roundTrips);
            send(calls, END);
        }

        private static boolean isTooFew(int roundTrips) {
            return roundTrips < LEAST_ROUND_TRIPS || TAKEN.get() < LEAST_FLOOD;
        }

        private static void answer(Channel calls) {
            for (int number = receive(calls); number != END; number = receive(calls)) {
                send(calls, number);
            }
        }
    }
}
