package io.madeleine.integration;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two processes that send 32 MiB to each other at once. */
@Tag("waits")
class BothSendIT {
    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci", "dma"})
    void shouldFinishOrSayWhoWaitsForWhom(String network) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over(network)
                .with("channels.side.network=tcp")
                .optimizing()
                .start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                int peer = 1 - rank;
                String error = processes.awaitLine(rank, "one thread: ");
                assertTrue(
                        error.contains("from rank " + rank + " to rank " + peer)
                                && error.contains("rank " + peer + " has to unpack"),
                        error);
            }
        }
    }

    /** Three ways to do it, one after the other. */
    static final class Program {
        private static final int BYTES = 32 << 20;

        private final Channel channel;
        private final int peer;
        private final MemorySegment outgoing;
        private final MemorySegment incoming;

        Program(Session session) {
            this.channel = session.channel();
            this.peer = 1 - session.rank();
            this.outgoing = session.allocate(BYTES);
            this.incoming = session.allocate(BYTES);
            Contents.fill(outgoing, session.rank());
        }

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                Program program = new Program(session);
                program.receiveInAnotherThread();
                program.barrier();
                program.sendAsynchronously();
                program.barrier();
                program.blockInOneThread();
                program.barrier();
                program.sendAsynchronously(); // the connection is as good as before
            }
        }

        private OutgoingMessage pack() {
            return channel.beginPacking(peer, 20, SECONDS).within(20, SECONDS).pack(outgoing);
        }

        private void receive() {
            incoming.fill((byte) 0);
            IncomingMessage in = channel.beginUnpacking(20, SECONDS).within(20, SECONDS);
            in.unpack(incoming, SendMode.CHEAPER, CHEAPER).endUnpacking();
            Contents.check(incoming, peer, "32 MiB");
        }

        private void barrier() {
            barrier(channel);
        }

        private void barrier(Channel over) {
            over.beginPacking(peer).packInt(1).endPacking();
            IncomingMessage in = over.beginUnpacking(20, SECONDS);
            in.unpackInt();
            in.endUnpacking();
        }

        private void receiveInAnotherThread() throws Exception {
            try (var executor = Executors.newSingleThreadExecutor()) {
                Future<?> received = executor.submit(this::receive);
                pack().endPacking();
                received.get();
            }
        }

        private void sendAsynchronously() {
            Completion sent = pack().endPackingAsync();
            receive();
            if (!sent.await(20, SECONDS)) {
                throw new AssertionError("not sent, though it has been received");
            }
        }

        /** Neither takes what the other sends: no network holds 32 MiB. */
        private void blockInOneThread() {
            OutgoingMessage out = pack();
            try {
                out.endPacking(1, SECONDS);
                throw new AssertionError("sent, though nobody receives");
            } catch (DeadlineExceededException e) {
                System.out.println("one thread: " + e.getMessage());
            }
            out.close();
            barrier(channel.session().channel("side")); // who receives sooner could take what the other still sends
            IncomingMessage in = channel.beginUnpacking(20, SECONDS).within(20, SECONDS);
            try {
                in.unpack(incoming, SendMode.CHEAPER, CHEAPER).endUnpacking();
                throw new AssertionError("an aborted message came to a good end");
            } catch (MessageAbortedException _) {
                // as it should be
            }
        }
    }
}
