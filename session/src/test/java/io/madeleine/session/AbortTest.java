package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Aborts among ranks of one JVM, which is not to end. */
@Timeout(60)
class AbortTest {
    private final BlockingQueue<String> ends = new LinkedBlockingQueue<>();

    private List<Session> open(int size) throws Exception {
        int port = TestSessions.freePort();
        List<Callable<Session>> openings = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int rank = i;
            Map<String, Object> settings = TestSessions.settings(rank, size, port);
            openings.add(() -> TestSessions.open(settings, (code, reason) -> ends.add(code + " " + reason)));
        }
        return TestSessions.all(openings);
    }

    private String end() throws InterruptedException {
        return ends.poll(20, TimeUnit.SECONDS);
    }

    @Test
    void shouldEndAllProcessesOnceAndEveryWait() throws Exception {
        List<Session> sessions = open(3);
        sessions.get(2).abort(7, "no good");
        for (int i = 0; i < 3; i++) {
            assertEquals("7 rank 2 has aborted the session with exit code 7: no good", end());
        }
        for (int rank = 0; rank < 3; rank++) {
            Session session = sessions.get(rank);
            int peer = (rank + 1) % 3;
            String message = assertThrows(
                            PeerFailedException.class, () -> session.channel().beginUnpacking(peer))
                    .getMessage();
            assertTrue(message.contains("rank 2 has aborted the session"), message);
        }
        TestSessions.closeAll(sessions);
        assertNull(ends.poll());
    }

    @Test
    void shouldEndAllWithTheSameCodeIfSeveralAbort() throws Exception {
        List<Session> sessions = open(3);
        List<Callable<Boolean>> aborts = new ArrayList<>();
        for (Session session : sessions) {
            aborts.add(() -> {
                session.abort(session.rank() + 10, "mine");
                return true;
            });
        }
        TestSessions.all(aborts);
        String first = end();
        assertEquals(first, end());
        assertEquals(first, end());
        TestSessions.closeAll(sessions);
    }

    @Test
    void shouldEndAProcessAlone() throws Exception {
        Session alone = TestSessions.open(TestSessions.loop(), (code, reason) -> ends.add(code + " " + reason));
        assertThrows(IllegalArgumentException.class, () -> alone.abort(256, "too much"));
        alone.abort(0, "enough");
        assertEquals("0 rank 0 has aborted the session with exit code 0: enough", end());
        alone.close();
    }
}
