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
 * Listens for connections. Until they have proved to know the secret, one thread serves all who come, in less than 16 MiB: it
 * never waits for one of them, and when there are too many, or descriptors run out, who has been silent for longest goes. Nothing
 * ends that thread but {@link #close}: what goes wrong, be it an Error, costs at most the connection it concerns.
 *
 * <p>Threading: thread-safe; one daemon thread.
 *
 * @param <H> the handshake by which they prove it
 */
public final class Acceptor<H extends ServerHandshake> implements AutoCloseable {
    /** Each takes less than 8 KiB: a channel, its key, what it has said (72 bytes at most), and its socket. */
    public static final int MAX_UNAUTHENTICATED = 2_048;

    /** The system takes less, perhaps. */
    private static final int BACKLOG = 4_096;

    /** So that those who have come get their turn while more come. */
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
    private volatile boolean closed;

    /** To whom those who have proved themselves are handed. */
    public interface Host<H extends ServerHandshake> {
        /** For one that has connected. */
        H newHandshake();

        /**
         * It has proved to know the secret. Must not wait.
         * Ownership: the connection is the host's, unless this fails.
         *
         * @throws IOException if the connection has gone already
         */
        void proven(UnauthenticatedConnection<H> connection) throws IOException;

        /** It has shown that it does not. */
        default void refused(String why) {}
    }

    /**
     * How an acceptor is to work.
     *
     * @param threadName of its thread
     * @param timeoutMs how long one may take to prove itself
     * @param tooLate what is said of one that took longer
     * @param maxCount how many may be doing so at once
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
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
        server.register(selector, SelectionKey.OP_ACCEPT);
        thread = Thread.ofPlatform().daemon().name(settings.threadName()).start(this::serve);
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return address;
    }

    private void serve() {
        while (!closed) {
            try {
                look();
            } catch (Throwable e) { // an Error, too: others may still be on their way
                recover(e);
            }
        }
        shut();
    }

    @SuppressWarnings("unchecked") // what is attached was attached by register
    private void look() throws IOException {
        if (proven.isEmpty()) {
            selector.select(longestWaitMs());
        } else { // something went wrong when they were to be handed over
            selector.selectNow();
        }
        for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext() && !closed; ) {
            SelectionKey ready = keys.next();
            keys.remove();
            if (ready.attachment() instanceof UnauthenticatedConnection<?> connection) {
                hear((UnauthenticatedConnection<H>) connection);
            } else {
                acceptSome();
            }
        }
        handOverProven();
        dropLate();
    }

    /** How long nobody's time ends; 0 for ever. */
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
        for (int i = Math.min(ACCEPTED_PER_ROUND, connections.maxCount() / 4); i > 0; i--) {
            SocketChannel channel = server.accept();
            if (channel == null) {
                return;
            }
            meet(begin(channel));
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

    private void meet(UnauthenticatedConnection<H> connection) {
        if (connections.isFull()) {
            String why = "more than " + connections.count() + " are there that have not proved to know the secret";
            connections.mostSilent().ifPresent(silent -> refuse(silent, why));
        }
        connections.add(connection);
        try {
            connection.register(selector);
            connection.write(connection.handshake().opening());
        } catch (IOException _) {
            drop(connection); // it has gone already
        } catch (Throwable e) {
            drop(connection);
            throw e;
        }
    }

    private void hear(UnauthenticatedConnection<H> connection) {
        try {
            if (!connection.read()) {
                drop(connection);
                return;
            }
            connections.heard(connection);
            if (connection.handshake().isProven()) {
                proven.add(connection);
                connection.deregister(selector); // it is not heard again
            }
        } catch (HandshakeException e) {
            connection.writeFarewell(e.farewell());
            host.refused(refuse(connection, String.valueOf(e.getMessage())));
        } catch (IOException _) {
            drop(connection); // it has reset the connection
        } catch (Throwable e) {
            drop(connection);
            throw e;
        }
    }

    private void handOverProven() throws IOException {
        if (proven.isEmpty()) {
            return;
        }
        selector.selectNow(); // forgets the keys: a channel that blocks cannot be a selector's
        while (!proven.isEmpty()) {
            UnauthenticatedConnection<H> connection = proven.removeFirst();
            connections.remove(connection);
            try {
                connection.channel().configureBlocking(true);
                host.proven(connection);
            } catch (IOException _) {
                connection.close(); // it has gone already
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
        String told = "who connected from " + connection.remote() + " is not let in: " + why;
        notices.warn(told);
        return told;
    }

    private void drop(UnauthenticatedConnection<H> connection) {
        connections.remove(connection);
        proven.remove(connection);
        connection.close();
    }

    /**
     * Out of descriptors, threads or memory, probably, and others in this process need some, too: from now on fewer are
     * let in at once.
     */
    private void recover(Throwable cause) {
        if (closed) {
            return;
        }
        try {
            int before = connections.count();
            connections.halve();
            while (connections.isFull()) {
                connections.mostSilent().ifPresent(this::drop);
            }
            selector.selectNow(); // frees their descriptors: to tell of it may take one
            notices.warn("accepting a connection failed, and goes on: " + cause);
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

    /** Nobody can connect any more; those who were handed over stay. Idempotent. */
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
