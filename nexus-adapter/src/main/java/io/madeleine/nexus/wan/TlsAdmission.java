package io.madeleine.nexus.wan;

import io.madeleine.admission.NoticeLimit;
import io.madeleine.admission.UnauthenticatedConnection;
import java.io.IOException;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The second stage of the listener: connections with a correct {@link Preauthentication} go through TLS and the
 * {@link Handshake}, each in a thread of its own. The number of connections at once, the time of each, and the number
 * of waiting ones are bounded.
 *
 * <p>Threading: thread-safe.
 */
final class TlsAdmission implements AutoCloseable {
    /**
     * Each takes less than 256 KiB (about 64 KiB measured): TLS records, certificates, and the stack of a virtual
     * thread.
     */
    private static final int MAX_AT_ONCE = 64;

    /** A waiting connection is as cheap as one that has not knocked. */
    private static final int MAX_WAITING = 1_024;

    private final Credentials credentials;
    private final int timeoutMs;
    private final Listener.Guests guests;
    private final ThreadFactory threads;
    private final NoticeLimit notices;
    private final Queue<UnauthenticatedConnection<Preauthentication>> waiting = new ArrayDeque<>();
    private int busyCount;
    private boolean closed;

    TlsAdmission(
            Credentials credentials,
            int timeoutMs,
            Listener.Guests guests,
            ThreadFactory threads,
            NoticeLimit notices) {
        this.credentials = credentials;
        this.timeoutMs = timeoutMs;
        this.guests = guests;
        this.threads = threads;
        this.notices = notices;
    }

    /**
     * Takes a connection that has knocked; does not wait.
     *
     * <p>Ownership: the connection is this object's, even if this throws.
     */
    void enter(UnauthenticatedConnection<Preauthentication> connection) {
        synchronized (this) {
            if (closed || busyCount == MAX_AT_ONCE) {
                if (!closed && waiting.size() < MAX_WAITING) {
                    waiting.add(connection);
                } else {
                    connection.close(); // a guest tries again
                }
                return;
            }
            busyCount++;
        }
        try {
            threads.newThread(() -> serve(connection)).start();
        } catch (Throwable e) {
            connection.close();
            leave();
            throw e;
        }
    }

    private void serve(UnauthenticatedConnection<Preauthentication> first) {
        for (UnauthenticatedConnection<Preauthentication> next = first; next != null; next = nextOrLeave()) {
            admit(next);
        }
    }

    private synchronized @Nullable UnauthenticatedConnection<Preauthentication> nextOrLeave() {
        UnauthenticatedConnection<Preauthentication> next = waiting.poll();
        if (next == null) {
            busyCount--;
        }
        return next;
    }

    private synchronized void leave() {
        busyCount--;
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Closes the connections that wait; those that are in the handshake are closed at its end. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        waiting.forEach(UnauthenticatedConnection::close);
        waiting.clear();
    }

    private void admit(UnauthenticatedConnection<Preauthentication> connection) {
        long goneMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - connection.sinceNs());
        int leftMs = (int) Math.max(1, timeoutMs - goneMs);
        Socket socket = connection.channel().socket();
        try (Deadline deadline = new Deadline(socket, leftMs)) {
            try {
                SealedConnection guest = Handshake.accept(socket, credentials, leftMs);
                if (isClosed()) {
                    connection.close(); // as if nobody had listened
                } else {
                    guests.welcome(guest);
                }
            } catch (IOException | RuntimeException | Error e) {
                notices.warn("the connection from " + connection.remote() + " is refused: "
                        + (deadline.explains(e)
                                ? Deadline.text(timeoutMs)
                                : e.getMessage() == null ? e : e.getMessage()));
                connection.close();
            }
        }
    }
}
