package io.madeleine.admission;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Listens for connections. One thread serves all peers until they have proved that they know the secret, in less than
 * 16 MiB. It never waits for a peer. If there are too many, or file descriptors run out, it drops the peer that has
 * been silent for longest. Only {@link #close} ends the thread: any failure, even an Error, costs at most the
 * connection that it concerns.
 *
 * <p>Threading: thread-safe; one daemon thread.
 *
 * @param <H> the type of the handshake that proves the secret
 */
public final class Acceptor<H extends ServerHandshake> implements AutoCloseable {
    /**
     * The most unauthenticated connections. Each takes less than 8 KiB: a channel, its key, its input (72 bytes at
     * most), and its socket.
     */
    public static final int MAX_UNAUTHENTICATED = 2_048;

    /** After this time without a failure the acceptor admits twice as many connections again. */
    private static final long RECOVERED_NS = 10_000_000_000L;

    /** The system may use less. */
    private static final int BACKLOG = 4_096;

    /** A limit per round, so that accepted peers are served while more connect. */
    private static final int ACCEPTED_PER_ROUND = 64;

    private static final long PAUSE_MS = 20;
    private static final long CLOSE_MS = 1_000;

    private final Settings settings;
    private final Host<H> host;
    private final NoticeLimit notices;
    private final ServerSocketChannel server;
    private final InetSocketAddress address;
    private final Selector selector;
    private final UnauthenticatedConnections<UnauthenticatedConnection<H>> connections;
    private final Deque<UnauthenticatedConnection<H>> proven = new ArrayDeque<>();
    private final Thread thread;
    private long reducedNs;
    private volatile boolean closed;

    /** Takes over the peers that have proved that they know the secret. */
    public interface Host<H extends ServerHandshake> {
        /** Makes the handshake for a new connection. */
        H newHandshake();

        /**
         * The peer has proved that it knows the secret. Must not wait.
         *
         * <p>Ownership: the connection passes to the host, unless this throws.
         *
         * @throws IOException if the connection is already lost
         */
        void proven(UnauthenticatedConnection<H> connection) throws IOException;

        /** The peer has failed to prove it. */
        default void refused(String why) {}
    }

    /**
     * The settings of an acceptor.
     *
     * @param threadName the name of its thread
     * @param timeoutMs how long a peer may take to prove itself, in milliseconds
     * @param tooLate the reason to give for a peer that took longer
     * @param maxCount how many unauthenticated connections there may be
     */
    public record Settings(String threadName, int timeoutMs, String tooLate, int maxCount) {}

    /** Begins to listen. */
    public Acceptor(InetSocketAddress address, Settings settings, NoticeLimit notices, Host<H> host)
            throws IOException {
        this.settings = settings;
        this.notices = notices;
        this.host = host;
        this.connections = new UnauthenticatedConnections<>(settings.maxCount());
        this.server = ServerSocketChannel.open();
        try {
            server.bind(address, BACKLOG);
            this.address = new InetSocketAddress(
                    server.socket().getInetAddress(), server.socket().getLocalPort());
            server.configureBlocking(false);
            selector = Selector.open();
        } catch (IOException | RuntimeException | Error e) {
            server.close();
            throw e;
        }
        try {
            server.register(selector, SelectionKey.OP_ACCEPT);
            thread = Thread.ofPlatform().daemon().name(settings.threadName()).start(this::serve);
        } catch (IOException | RuntimeException | Error e) { // no thread can be started, for instance
            server.close();
            selector.close();
            throw e;
        }
    }

    /** The address on which it listens. */
    public InetSocketAddress address() {
        return address;
    }

    private void serve() {
        while (!closed) {
            try {
                runOnce();
            } catch (Throwable e) { // even an Error: other connections must go on
                recover(e);
            }
        }
        shut();
    }

    @SuppressWarnings("unchecked") // register attached it
    private void runOnce() throws IOException {
        if (proven.isEmpty()) {
            selector.select(longestWaitMs());
        } else { // a handover failed before
            selector.selectNow();
        }
        for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext() && !closed; ) {
            SelectionKey ready = keys.next();
            keys.remove();
            if (ready.attachment() instanceof UnauthenticatedConnection<?> connection) {
                readFrom((UnauthenticatedConnection<H>) connection);
            } else {
                acceptSome();
            }
        }
        handOverProven();
        dropLate();
        if (connections.isReduced() && System.nanoTime() - reducedNs > RECOVERED_NS) {
            reducedNs = System.nanoTime();
            connections.grow();
        }
    }

    /** How long until the next time limit of a peer, in milliseconds; 0 if there is none. */
    private long longestWaitMs() {
        return connections
                .oldest()
                .map(oldest -> Math.max(1, settings.timeoutMs() - ageMs(oldest) + 1))
                .orElse(0L);
    }

    private long ageMs(UnauthenticatedConnection<H> connection) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - connection.sinceNs());
    }

    private void acceptSome() throws IOException {
        for (int i = Math.min(ACCEPTED_PER_ROUND, Math.max(1, connections.maxCount() / 4)); i > 0; i--) {
            SocketChannel channel = server.accept();
            if (channel == null) {
                return;
            }
            admit(begin(channel));
        }
    }

    private UnauthenticatedConnection<H> begin(SocketChannel channel) throws IOException {
        try {
            return new UnauthenticatedConnection<>(channel, host.newHandshake());
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    private void admit(UnauthenticatedConnection<H> connection) {
        if (connections.isFull()) {
            String why = "more than " + connections.count() + " connections have not proved that they know the secret";
            connections.mostSilent().ifPresent(silent -> refuse(silent, why));
        }
        connections.add(connection);
        try {
            connection.register(selector);
            connection.write(connection.handshake().opening());
        } catch (IOException _) {
            drop(connection); // the peer has gone already
        } catch (Throwable e) {
            drop(connection);
            throw e;
        }
    }

    private void readFrom(UnauthenticatedConnection<H> connection) {
        try {
            if (!connection.read()) {
                drop(connection);
                return;
            }
            connections.heard(connection);
            if (connection.handshake().isProven()) {
                proven.add(connection);
                connection.deregister(selector); // nothing more is read from it
            }
        } catch (HandshakeException e) {
            connection.writeFarewell(e.farewell());
            host.refused(refuse(connection, String.valueOf(e.getMessage())));
        } catch (IOException _) {
            drop(connection); // the peer has reset the connection
        } catch (Throwable e) {
            drop(connection);
            throw e;
        }
    }

    private void handOverProven() throws IOException {
        if (proven.isEmpty()) {
            return;
        }
        selector.selectNow(); // removes the cancelled keys: a channel with a key cannot be blocking
        while (!proven.isEmpty()) {
            UnauthenticatedConnection<H> connection = proven.removeFirst();
            connections.remove(connection);
            try {
                connection.channel().configureBlocking(true);
                host.proven(connection);
            } catch (IOException _) {
                connection.close(); // the peer has gone already
            } catch (Throwable e) {
                connection.close();
                throw e;
            }
        }
    }

    private void dropLate() {
        for (Optional<UnauthenticatedConnection<H>> oldest = connections.oldest();
                oldest.isPresent() && ageMs(oldest.get()) >= settings.timeoutMs();
                oldest = connections.oldest()) {
            String _ = refuse(oldest.get(), settings.tooLate());
        }
    }

    private String refuse(UnauthenticatedConnection<H> connection, String why) {
        drop(connection);
        String told = "the connection from " + connection.remote() + " was refused: " + why;
        notices.warn(told);
        return told;
    }

    private void drop(UnauthenticatedConnection<H> connection) {
        connections.remove(connection);
        proven.remove(connection);
        connection.close();
    }

    /**
     * Handles a failure, probably a lack of descriptors, threads or memory, which the rest of the process needs too:
     * from now on the acceptor admits fewer connections at once.
     */
    private void recover(Throwable cause) {
        if (closed) {
            return;
        }
        try {
            int before = connections.count();
            connections.halve();
            reducedNs = System.nanoTime();
            while (connections.isFull()) {
                connections.mostSilent().ifPresent(this::drop);
            }
            selector.selectNow(); // frees their descriptors: logging may need one
            notices.warn("accepting connections failed; the acceptor goes on: " + cause);
            if (connections.count() == before) {
                Thread.sleep(PAUSE_MS);
            }
        } catch (Throwable _) {
            // the next round tries again
        }
    }

    private void shut() {
        try {
            server.close();
            while (connections.oldest().isPresent()) {
                drop(connections.oldest().get());
            }
            selector.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    /** Stops listening; connections that were handed over stay open. Idempotent. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
