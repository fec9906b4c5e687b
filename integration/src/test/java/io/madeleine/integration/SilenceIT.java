package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.session.OnFailure;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Inside a host a process that does not move is not dead. */
@Tag("waits")
@Execution(ExecutionMode.CONCURRENT)
class SilenceIT {
    @ParameterizedTest
    @CsvSource({"tcp, false, 2", "sci, false, 5", "sci, true, 2"})
    void shouldWaitForAStoppedProcessAndLoseNothing(String network, boolean launched, int seconds) throws Exception {
        Ranks ranks = Ranks.of(2, Program.class).over(network).with("peer-timeout=500ms", "wait.mode=adaptive");
        try (Processes processes = (launched ? ranks.launched(OnFailure.STOP) : ranks).start()) {
            processes.awaitLine(0, "flowing");
            processes.signal(1, "STOP");
            processes.awaitLine(0, "deadline of begin: ");
            processes.awaitLine(0, "deadline of send: ");
            Thread.sleep(seconds * 1_000L); // four times the timeout, and more
            processes.signal(1, "CONT");
            processes.assertSuccess();
            assertEquals(List.of(), processes.out(0).linesAfter("told of"), processes::toString);
            assertEquals(List.of(), processes.out(1).linesAfter("told of"), processes::toString);
            assertTrue(processes.out(0).lines().contains("done"), processes::toString);
        }
    }

    /** Rank 1 answers each number with the same; rank 0 asks until it sees rank 1 stop, and afterwards. */
    static final class Program {
        private static final int WARM_UP = 100;
        private static final int AFTERWARDS = 1000;
        private static final int LONG_BLOCK = 7;
        private static final int END = -1;

        private final Channel channel;
        private final MemorySegment block;

        Program(Session session) {
            this.channel = session.channel();
            this.block = session.allocate(32 << 20);
        }

        public static void main(String[] args) {
            try (Session session = Session.open()) {
                session.onPeerFailure((rank, cause) -> System.out.println("told of " + rank + ": " + cause));
                Program program = new Program(session);
                if (session.rank() == 0) {
                    program.ask();
                } else {
                    program.answer();
                }
            }
        }

        private void answer() {
            int number;
            do {
                IncomingMessage in = channel.beginUnpacking();
                number = in.unpackInt();
                if (number == LONG_BLOCK) {
                    in.unpack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                }
                in.endUnpacking();
                if (number == LONG_BLOCK) {
                    Contents.check(block, LONG_BLOCK, "the block sent while its receiver was stopped");
                }
                channel.beginPacking(0).packInt(number).endPacking();
            } while (number != END);
        }

        private void ask() {
            Contents.fill(block, LONG_BLOCK);
            for (int i = 0; i < WARM_UP; i++) {
                send(100 + i);
                receive(100 + i, 30_000);
            }
            System.out.println("flowing");
            int number = 1000;
            OutgoingMessage out;
            do {
                number = talkUntilSilent(number);
                out = channel.beginPacking(1).packInt(LONG_BLOCK).pack(block);
            } while (isSent(out, number)); // before it is stopped it may have been slow
            out.endPacking(30, SECONDS);
            receive(number, 30_000);
            receive(LONG_BLOCK, 30_000);
            for (int i = 0; i < AFTERWARDS; i++) {
                send(100 + i);
                receive(100 + i, 30_000);
            }
            send(END);
            receive(END, 30_000);
            System.out.println("done");
        }

        /** Returns the number that is not answered. */
        private int talkUntilSilent(int before) {
            int number = before;
            try {
                while (true) {
                    send(++number);
                    receive(number, 1_000);
                }
            } catch (DeadlineExceededException e) {
                System.out.println("deadline of begin: " + e.getMessage());
            }
            return number;
        }

        /** Whether somebody takes the long block, who then answers it and the number. */
        private boolean isSent(OutgoingMessage out, int number) {
            try {
                out.endPacking(1_000, MILLISECONDS);
            } catch (DeadlineExceededException e) {
                System.out.println("deadline of send: " + e.getMessage());
                return false;
            }
            receive(number, 30_000);
            receive(LONG_BLOCK, 30_000);
            return true;
        }

        private void send(int number) {
            channel.beginPacking(1).packInt(number).endPacking();
        }

        private void receive(int number, long timeoutMs) {
            IncomingMessage in = channel.beginUnpacking(1, timeoutMs, MILLISECONDS);
            int found = in.unpackInt();
            in.endUnpacking();
            if (found != number) {
                throw new AssertionError("expected " + number + ", found " + found);
            }
        }
    }
}
