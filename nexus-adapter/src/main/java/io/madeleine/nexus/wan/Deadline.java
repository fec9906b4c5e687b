package io.madeleine.nexus.wan;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Closes a socket after a time unless it is lifted before. A timeout per read is not enough: a client that sends a
 * byte now and then would never reach it.
 *
 * <p>Threading: thread-safe.
 */
public final class Deadline implements AutoCloseable {
    private final Thread timer;
    private volatile boolean lifted;
    private volatile boolean passed;

    Deadline(Socket socket, int timeoutMs) {
        this.timer = Thread.ofVirtual().name("nexus-wan-deadline").start(() -> {
            try {
                Thread.sleep(Duration.ofMillis(timeoutMs));
            } catch (InterruptedException _) {
                // close() has interrupted it
            }
            if (!lifted) {
                passed = true;
                try {
                    socket.close();
                } catch (IOException _) {
                    // it counts as closed
                }
            }
        });
    }

    /** What is left of a time, at least 1 ms; a part of a millisecond counts as a whole one. */
    public static int leftMs(long untilNs, long nowNs) {
        long leftNs = Math.max(1, untilNs - nowNs);
        return Math.toIntExact(TimeUnit.NANOSECONDS.toMillis(leftNs + TimeUnit.MILLISECONDS.toNanos(1) - 1));
    }

    /** Whether a failure is due to the deadline. */
    public boolean explains(Throwable failure) {
        return passed || failure instanceof SocketTimeoutException;
    }

    /** The error text for the deadline. */
    static String text(long timeoutMs) {
        return "it took longer than " + timeoutMs + " ms, the connect timeout (ContextOptions.withConnectTimeout)";
    }

    @Override
    public void close() {
        lifted = true;
        timer.interrupt();
    }
}
