package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.MessageAbortedException;
import io.madeleine.api.PeerFailedException;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the log says of messages that are dropped. */
class FailureReportsTest {
    private final Logger logger = Logger.getLogger("io.madeleine.nexus");
    private final List<LogRecord> records = new ArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord logged) {
            records.add(logged);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final FailureReports reports = new FailureReports(0);

    @BeforeEach
    void listen() {
        logger.addHandler(handler);
    }

    @AfterEach
    void leave() {
        logger.removeHandler(handler);
    }

    @Test
    void shouldTellInOneLineThatAPeerIsGoneBeforeTheEndOfItsMessage() {
        reports.notReceived(1, new PeerFailedException(1, "rank 1 has ended"));
        assertEquals(
                "a message from rank 1 to rank 0 is dropped: rank 1 has ended",
                records.getFirst().getMessage());
        assertNull(records.getFirst().getThrown());
    }

    @Test
    void shouldNotWarnOfAMessageThatItsSenderHasAborted() {
        logger.setLevel(Level.FINE);
        reports.notReceived(1, new MessageAbortedException("it was aborted by its sender"));
        logger.setLevel(null);
        assertEquals(Level.FINE, records.getFirst().getLevel());
        assertNull(records.getFirst().getThrown());
    }

    @Test
    void shouldTellOfALossHoweverManyMessagesWereAborted() {
        for (int i = 0; i < 100; i++) {
            reports.notReceived(1, new MessageAbortedException("it was aborted by its sender"));
        }
        assertTrue(records.isEmpty());
        reports.notReceived(1, new PeerFailedException(1, "rank 1 has ended"));
        assertEquals(1, records.size());
        assertEquals(Level.WARNING, records.getFirst().getLevel());
    }

    @Test
    void shouldShowWhereAMessageWasFoundToBeWrong() {
        RuntimeException cause = new NexusException("a request of 3 bytes");
        reports.notReceived(1, cause);
        assertEquals(
                "a message from rank 1 to rank 0 is dropped", records.getFirst().getMessage());
        assertSame(cause, records.getFirst().getThrown());
    }
}
