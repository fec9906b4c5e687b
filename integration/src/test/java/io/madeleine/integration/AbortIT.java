package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.Session;
import io.madeleine.session.OnFailure;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One of several processes aborts, not the root; the others wait, compute, and hang in a shutdown hook. */
@Tag("waits")
class AbortIT {
    private static final int CODE = 77;

    @ParameterizedTest
    @CsvSource({"sci, true", "tcp, false"})
    void shouldEndAllProcessesWithTheCodeAndTellTheReasonOnce(String network, boolean launched) throws Exception {
        Ranks ranks = Ranks.of(3, Program.class).over(network).with("session.abort-timeout=1s");
        try (Processes processes = (launched ? ranks.launched(OnFailure.CONTINUE) : ranks).start()) {
            processes.awaitAll();
            assertEquals(CODE, processes.exitCode(), processes::toString);
            assertEquals(
                    List.of("madeleine: session default: rank 1 (process " + processes.pid(1)
                            + ") aborts with exit code 77: on purpose"),
                    processes.err(1).lines(),
                    processes::toString);
            assertEquals(List.of(), processes.err(0).lines(), processes::toString);
            assertEquals(List.of(), processes.err(2).lines(), processes::toString);
            if (processes instanceof HostedProcesses hosted) {
                for (int rank = 0; rank < 3; rank++) {
                    assertEquals(CODE, hosted.exitCode(rank), "rank " + rank);
                }
            } else if (processes instanceof LaunchedProcesses own) {
                assertEquals(List.of(), own.words().lines(), processes::toString);
            }
        }
    }

    /** Rank 1 aborts from a handler once the others have got to where they will be. */
    static final class Program {
        @SuppressWarnings("InfiniteLoopStatement")
        public static void main(String[] args) throws InterruptedException {
            Session session = Session.open();
            switch (session.rank()) {
                case 0 -> {
                    session.channel().beginPacking(1).packInt(0).endPacking();
                    session.channel().beginUnpacking();
                }
                case 1 -> {
                    session.channel().onMessage(in -> {
                        in.unpackInt();
                        in.endUnpacking();
                        if (in.remote() == 2) {
                            session.abort(CODE, "on purpose");
                        }
                    });
                    Thread.sleep(600_000);
                }
                default -> {
                    Runtime.getRuntime().addShutdownHook(new Thread(AbortIT::hang));
                    session.channel().beginPacking(1).packInt(0).endPacking();
                    while (true) {
                        Thread.onSpinWait();
                    }
                }
            }
        }
    }

    private static void hang() {
        try {
            Thread.sleep(600_000);
        } catch (InterruptedException _) {
            // nobody does that
        }
    }
}
