package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** Buffered sends whose receiver is lost. */
class BufferedSendsTest {
    private static final Logger LOGGER = Logger.getLogger("io.madeleine.mpi");

    private final Queue<LogRecord> logged = new ConcurrentLinkedQueue<>();

    private final Handler log = new Handler() {
        @Override
        public void publish(LogRecord line) {
            logged.add(line);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @Test
    void shouldLogTheirFailuresInOneLine() {
        LOGGER.addHandler(log);
        LOGGER.setUseParentHandlers(false);
        try (World world = new World("tcp", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    comm.environment().buffered().attach(new byte[1 << 20], 1 << 20);
                    comm.bSend(new int[100_000], 100_000, MPI.INT, 1, 7);
                }
            });
            world.die(1);
            Object _ = world.of(0).buffered().detach();
            List<LogRecord> lines = List.copyOf(logged);
            assertEquals(1, lines.size());
            String text = lines.getFirst().getMessage();
            assertTrue(
                    text.startsWith("a buffered send of 400000 bytes to rank 1 with tag 7 has failed: rank 1 "), text);
            assertNull(lines.getFirst().getThrown());
        } finally {
            LOGGER.removeHandler(log);
            LOGGER.setUseParentHandlers(true);
        }
    }
}
