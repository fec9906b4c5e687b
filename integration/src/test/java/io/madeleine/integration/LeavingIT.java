package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that leave their session while others still have to receive what they sent. */
@Tag("waits")
class LeavingIT {
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci"})
    void shouldReceiveAllThatWasSentByAPeerThatLeft(String network) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class).over(network).start()) {
            processes.assertSuccess();
        }
    }

    /** Rank 1 sends and leaves; rank 0 has a message open and waits for the next ones meanwhile, in two ways. */
    static final class Program {
        private static final int MESSAGES = 6;

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                if (session.rank() == 1) {
                    for (int i = 0; i < MESSAGES; i++) {
                        channel.beginPacking(0)
                                .packInt(i)
                                .packUtf8("to the end")
                                .endPacking();
                    }
                } else {
                    receive(channel);
                }
            }
        }

        private static void receive(Channel channel) throws Exception {
            IncomingMessage first = channel.beginUnpacking(20, SECONDS);
            awaitLoss(channel);
            try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
                List<Future<List<Integer>>> others = new ArrayList<>();
                others.add(executor.submit(() -> receiveAll(() -> channel.beginUnpacking(20, SECONDS))));
                others.add(executor.submit(() -> receiveAll(() -> channel.beginUnpacking(1, 20, SECONDS))));
                Thread.sleep(300);
                List<Integer> received = new ArrayList<>(List.of(finish(first)));
                for (Future<List<Integer>> other : others) {
                    received.addAll(other.get());
                }
                received.sort(null);
                if (!received.equals(List.of(0, 1, 2, 3, 4, 5))) {
                    throw new AssertionError("received " + received);
                }
            }
        }

        private static void awaitLoss(Channel channel) throws InterruptedException {
            try {
                while (true) {
                    channel.beginPacking(1).packInt(0).endPacking();
                    channel.session().progress();
                    Thread.sleep(1);
                }
            } catch (PeerFailedException _) {
                // it has left
            }
        }

        private static List<Integer> receiveAll(Callable<IncomingMessage> begin) throws Exception {
            List<Integer> received = new ArrayList<>();
            try {
                while (true) {
                    received.add(finish(begin.call()));
                }
            } catch (PeerFailedException _) {
                return received;
            }
        }

        private static int finish(IncomingMessage in) {
            int number = in.unpackInt();
            in.unpackUtf8();
            in.endUnpacking();
            return number;
        }
    }
}
