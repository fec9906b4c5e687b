package io.madeleine.nexus.wan;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Listens for connections and lets in who proves to know the secret. A bounded number of strangers is at it at a time, each
 * for a bounded time; when there are too many, the one that has been at it for longest loses its place.
 *
 * <p>Threading: thread-safe.
 */
public final class Listener implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.nexus");
    private static final int MAX_STRANGERS = 64;
    private static final int BACKLOG = 128;

    private static final long LOG_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    /** Nobody loses a place sooner. */
    private static final long GRACE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ServerSocket server;
    private final Credentials credentials;
    private final int timeoutMs;
    private final Guests guests;
    private final Map<Socket, Long> strangersSinceNs = new LinkedHashMap<>();
    private final ThreadFactory strangers;
    private long notedCount;
    private long loggedNs;
    private volatile boolean closed;

    /** Told of who has come in. */
    @FunctionalInterface
    public interface Guests {
        /**
         * Called in a virtual thread of the connection's own, which the time for strangers bounds until it returns.
         * Ownership: the connection is the callee's from then on, unless it throws.
         */
        void welcome(SealedConnection connection) throws IOException;
    }

    /**
     * Begins to listen.
     *
     * @param timeoutMs how long a stranger may take to become a guest
     */
    public Listener(InetSocketAddress address, Credentials credentials, int timeoutMs, Guests guests)
            throws IOException {
        this(
                address,
                credentials,
                timeoutMs,
                guests,
                Thread.ofVirtual().name("nexus-wan-stranger").factory());
    }

    Listener(InetSocketAddress address, Credentials credentials, int timeoutMs, Guests guests, ThreadFactory strangers)
            throws IOException {
        this.strangers = strangers;
        this.credentials = credentials;
        this.timeoutMs = timeoutMs;
        this.guests = guests;
        this.server = new ServerSocket();
        try {
            server.setReuseAddress(true);
            server.bind(address, BACKLOG);
        } catch (IOException e) {
            server.close();
            throw e;
        }
        Thread.ofVirtual().name("nexus-wan-listener").start(this::listen);
    }

    /** The port it listens on. */
    public int port() {
        return server.getLocalPort();
    }

    private void listen() {
        while (!closed) {
            try {
                Socket socket = server.accept();
                if (closed) { // a virtual thread that waits in accept may get one more
                    close(socket);
                    return;
                }
                receive(socket);
            } catch (Throwable e) { // an Error, too: guests may still be on their way
                if (!closed) {
                    note("a connection cannot be accepted: " + e);
                    pause(); // no file descriptors or memory, say: others give theirs back
                }
            }
        }
    }

    private void receive(Socket socket) {
        try {
            enter(socket);
            strangers.newThread(() -> meet(socket)).start();
        } catch (Throwable e) {
            close(socket);
            leave(socket);
            throw e;
        }
    }

    /** Warns, but once a second: strangers must not be able to fill the log. */
    private void note(String what) {
        long all = notable();
        if (all > 0) {
            LOGGER.log(Level.WARNING, what + " (" + all + " so far)");
        }
    }

    /** How many there have been if it may be told now, or else 0. */
    private synchronized long notable() {
        long nowNs = System.nanoTime();
        if (++notedCount > 1 && nowNs - loggedNs < LOG_INTERVAL_NS) {
            return 0;
        }
        loggedNs = nowNs;
        return notedCount;
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void meet(Socket socket) {
        try (Deadline _ = new Deadline(socket, timeoutMs)) {
            guests.welcome(Handshake.accept(socket, credentials, timeoutMs));
        } catch (IOException | RuntimeException | Error e) {
            close(socket);
            if (!closed) {
                note("who connected from " + socket.getRemoteSocketAddress() + " is not let in: "
                        + (e.getMessage() == null ? e.toString() : e.getMessage()));
            }
        } finally {
            leave(socket);
        }
    }

    /** Makes room for one more. */
    private synchronized void enter(Socket socket) {
        while (strangersSinceNs.size() >= MAX_STRANGERS) {
            Map.Entry<Socket, Long> oldest =
                    strangersSinceNs.entrySet().iterator().next();
            long waitNs = GRACE_NS - (System.nanoTime() - oldest.getValue());
            if (waitNs <= 0) {
                strangersSinceNs.remove(oldest.getKey());
                close(oldest.getKey());
            } else {
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, waitNs);
                } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
        strangersSinceNs.put(socket, System.nanoTime());
    }

    private synchronized void leave(Socket socket) {
        strangersSinceNs.remove(socket);
        notifyAll();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    /** Nobody can connect any more; connections stay. Idempotent. */
    @Override
    public void close() {
        closed = true;
        try {
            server.close();
        } catch (IOException _) {
            // closed in any case
        }
    }
}
