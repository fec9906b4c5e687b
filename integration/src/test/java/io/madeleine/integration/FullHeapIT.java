package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.nexus.CallTimeout;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.RemoteService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program of one process fills its heap for a while, again and again, while it makes calls. */
class FullHeapIT {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /**
     * Calls are answered again, or fail at once since the connection was given up; nothing waits for what does not
     * come.
     */
    @ParameterizedTest
    @CsvSource({"tcp", "sci"})
    void shouldServeCallsAgainWhenAProcessHasMemoryAgain(String network) throws Exception {
        Ranks ranks = Ranks.of(2, Greedy.class)
                .over(network)
                .with("wait.mode=adaptive")
                .java("-Xmx64m");
        try (Processes processes = ranks.start()) {
            processes.awaitAll(PATIENCE);
            assertEquals(List.of("all"), processes.out(1).linesAfter("answered "), processes::toString);
        }
    }

    /** Rank 1 calls rank 0 from several threads, and fills its heap meanwhile. */
    static final class Greedy {
        private static final int CALLERS = 8;
        private static final int BLOCK_BYTES = 300_000;
        private static final int TIMES = 3;
        private static final long FULL_MS = 350;
        private static final long BETWEEN_MS = 150;
        private static final int CALLS = 20;
        private static final long RECOVERY_NS = TimeUnit.SECONDS.toNanos(30);

        private static volatile boolean over;
        private static volatile boolean enough;
        private static volatile Object ballast = "";

        /** Called. */
        @RemoteService
        public interface Echo {
            /** The same. */
            @CallTimeout(millis = 2_000)
            byte[] echo(byte[] block);

            /** No more calls come. */
            void over();
        }

        /** Echoes. */
        static final class Server implements Echo {
            @Override
            public byte[] echo(byte[] block) {
                return block;
            }

            @Override
            public void over() {
                over = true;
            }
        }

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open();
                    Context context = Context.open(session, created -> created.export(Echo.class, new Server()))) {
                if (context.rank() == 0) {
                    context.await(() -> over || !session.channel().isConnected(1), 60, TimeUnit.SECONDS);
                    return;
                }
                Echo there = context.service(0, Echo.class);
                byte[] small = new byte[8];
                there.echo(small);
                for (int i = 0; i < CALLERS; i++) {
                    Thread.ofPlatform().daemon().start(() -> callOn(there));
                }
                for (int i = 0; i < TIMES; i++) {
                    fillHeap();
                }
                enough = true;
                System.out.println("answered " + (callsAreAnswered(there, small) ? "all" : "no more"));
            }
        }

        private static void callOn(Echo there) {
            byte[] block = new byte[BLOCK_BYTES];
            while (!enough) {
                try {
                    there.echo(block);
                } catch (Throwable _) { // memory is short
                    Thread.yield();
                }
            }
        }

        private static void fillHeap() {
            try {
                List<byte[]> blocks = new ArrayList<>();
                ballast = blocks;
                for (int bytes = 1 << 20; bytes > 256; ) {
                    try {
                        blocks.add(new byte[bytes]);
                    } catch (OutOfMemoryError _) {
                        bytes /= 2;
                    }
                }
            } catch (OutOfMemoryError _) { // full
                enough = false;
            }
            pause(FULL_MS);
            ballast = "";
            pause(BETWEEN_MS);
        }

        private static void pause(long ms) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException | OutOfMemoryError _) {
                Thread.yield();
            }
        }

        /** So many in a row; or the connection has been given up, which calls say at once. */
        private static boolean callsAreAnswered(Echo there, byte[] small) {
            long giveUpNs = System.nanoTime() + RECOVERY_NS;
            int inARow = 0;
            boolean givenUp = false;
            while (inARow < CALLS && !givenUp && System.nanoTime() - giveUpNs < 0) {
                try {
                    there.echo(small);
                    inARow++;
                } catch (PeerFailedException e) {
                    System.err.println(e);
                    inARow = 0;
                    givenUp = String.valueOf(e.getMessage()).contains("cannot be reached");
                } catch (RuntimeException e) {
                    System.err.println(e);
                    inARow = 0;
                }
            }
            if (inARow == CALLS) {
                there.over();
            }
            return inARow == CALLS || givenUp;
        }
    }
}
