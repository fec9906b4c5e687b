package io.madeleine.integration;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** More processes than processors. */
class CrowdIT {
    private static final int PROCESSES = 8;

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci"})
    void shouldLetEightProcessesTalkEachToEach(String network) throws Exception {
        try (Processes processes = Ranks.of(PROCESSES, Program.class)
                .over(network)
                .with("wait.mode=adaptive")
                .java("-Xmx64m", "-XX:ActiveProcessorCount=2")
                .start()) {
            processes.assertSuccess(Duration.ofSeconds(60));
        }
    }

    /** In each round, everybody sends a message to everybody and receives one from everybody. */
    static final class Program {
        private static final int[] SIZES = {8, 1000, 20_000, 200_000};
        private static final int ROUNDS = 20;

        public static void main(String[] args) {
            try (Session session = Session.open()) {
                for (int round = 0; round < ROUNDS; round++) {
                    exchange(session, round);
                }
            }
        }

        private static long seed(int round, int from, int to) {
            return round * 10_000L + from * 100 + to;
        }

        private static void exchange(Session session, int round) {
            Channel channel = session.channel();
            int bytes = SIZES[round % SIZES.length];
            List<Completion> sent = new ArrayList<>();
            for (int i = 1; i < session.size(); i++) {
                int peer = (session.rank() + i) % session.size();
                MemorySegment block = MemorySegment.ofArray(new byte[bytes]);
                Contents.fill(block, seed(round, session.rank(), peer));
                sent.add(channel.beginPacking(peer).packInt(round).pack(block).endPackingAsync());
            }
            for (int peer = 0; peer < session.size(); peer++) {
                if (peer == session.rank()) {
                    continue;
                }
                IncomingMessage in = channel.beginUnpacking(peer, 30, SECONDS).within(30, SECONDS);
                if (in.unpackInt() != round) {
                    throw new AssertionError("a message of another round than " + round);
                }
                MemorySegment block = MemorySegment.ofArray(new byte[bytes]);
                in.unpack(block, SendMode.CHEAPER, CHEAPER);
                in.endUnpacking();
                Contents.check(block, seed(round, peer, session.rank()), "round " + round + " from " + peer);
            }
            for (Completion completion : sent) {
                if (!completion.await(30, SECONDS)) {
                    throw new AssertionError("a message of round " + round + " is not sent");
                }
            }
        }
    }
}
