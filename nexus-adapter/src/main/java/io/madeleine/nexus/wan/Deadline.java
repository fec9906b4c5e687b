package io.madeleine.nexus.wan;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/**
 * Closes a socket unless it is lifted in time: a stranger that sends a byte now and then would never run into a limit for
 * each read.
 *
 * <p>Threading: thread-safe.
 */
final class Deadline implements AutoCloseable {
    private final Thread timer;
    private volatile boolean lifted;
    private volatile boolean passed;

    Deadline(Socket socket, int timeoutMs) {
        this.timer = Thread.ofVirtual().name("nexus-wan-deadline").start(() -> {
            try {
                Thread.sleep(Duration.ofMillis(timeoutMs));
            } catch (InterruptedException _) {
                // lifted
            }
            if (!lifted) {
                passed = true;
                try {
                    socket.close();
                } catch (IOException _) {
                    // closed in any case
                }
            }
        });
    }

    /** Whether that went wrong because the time is up. */
    boolean explains(Throwable failure) {
        return passed || failure instanceof SocketTimeoutException;
    }

    /** What is said then. */
    static String text(long timeoutMs) {
        return "it took longer than " + timeoutMs + " ms, the connect timeout (ContextOptions.withConnectTimeout)";
    }

    @Override
    public void close() {
        lifted = true;
        timer.interrupt();
    }
}
