package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of the time that a connection may take. */
@Timeout(30)
class DeadlineTest {
    private static final int SHORT_MS = 100;

    @Test
    void shouldCloseASocketWhenItsTimeIsOverAndNotBefore() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket other = server.accept()) {
            long beganNs = System.nanoTime();
            Deadline deadline = new Deadline(socket, SHORT_MS);
            assertEquals(-1, other.getInputStream().read());
            assertTrue(System.nanoTime() - beganNs >= SHORT_MS * 1_000_000L);
            assertTrue(socket.isClosed());
            assertTrue(deadline.explains(new IOException("whatever follows")));
            deadline.close();
            assertTrue(deadline.explains(new IOException("lifted too late")));
        }
    }

    @Test
    void shouldLeaveASocketAloneOnceItIsLifted() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket other = server.accept()) {
            Deadline deadline = new Deadline(socket, SHORT_MS);
            deadline.close();
            Thread.sleep(2 * SHORT_MS);
            assertFalse(socket.isClosed());
            assertFalse(deadline.explains(new IOException("something else")));
            socket.getOutputStream().write(3);
            assertEquals(3, other.getInputStream().read());
        }
    }

    /** A read that took too long is late, too, whichever of the two noticed it. */
    @Test
    void shouldExplainAReadThatTookTooLongAndNothingElseInItsTime() {
        try (Deadline deadline = new Deadline(new Socket(), 60_000)) {
            assertTrue(deadline.explains(new SocketTimeoutException()));
            assertFalse(deadline.explains(new IOException("something else")));
        }
    }

    @Test
    void shouldSayHowLongItWasAndWhatChangesIt() {
        assertEquals(
                "it took longer than 300 ms, the connect timeout (ContextOptions.withConnectTimeout)",
                Deadline.text(300));
    }
}
