package io.madeleine.session;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the processes of sessions meet: it gives a session its id, passes cards around, and tells everybody who left or
 * died. A launcher runs one for its processes; without launcher, rank 0 runs one while the session is open.
 *
 * <p>One server serves sessions of any names, and a name again after its session ended: each meeting is a
 * {@link Room}.
 *
 * <p>Threading: thread-safe; one daemon thread accepts and one reads per connection.
 */
final class BootstrapServer implements AutoCloseable, Room.House {
    private static final Logger LOGGER = System.getLogger(BootstrapServer.class.getName());
    private static final int HANDSHAKE_TIMEOUT_MS = 5_000;
    private static final int MAX_STRANGERS = 64;
    private static final int BACKLOG = 512;

    private final Settings settings;
    private final byte[] key;
    private final ServerSocket listener;
    private final String idPrefix = HexFormat.of().formatHex(Secrets.nonce(), 0, 8);
    private final Strangers strangers = new Strangers(MAX_STRANGERS);
    private final Set<ControlConnection> connections = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Deque<Room>> rooms = new HashMap<>();
    private volatile boolean closed;
    private int roomCount;
    private volatile boolean processLost;
    private volatile String turnedAway = "";
    private String onlySession = "";

    /**
     * What a server has to know.
     *
     * @param size the number of processes of each session
     * @param secret what proves membership
     * @param serverRank the rank of this process in the sessions, or -1 for a launcher
     * @param peerTimeoutNs after how long without a sign a process of another host is dead
     */
    record Settings(int size, String secret, int serverRank, long peerTimeoutNs) {
        @Override
        public String toString() {
            return size + " processes, server in " + (serverRank < 0 ? "the launcher" : "rank " + serverRank);
        }
    }

    /**
     * Listens and serves.
     *
     * @param address where; port 0 for any free one
     */
    BootstrapServer(InetSocketAddress address, Settings settings) throws IOException {
        this.settings = settings;
        this.key = Secrets.controlKey(settings.secret());
        this.listener = new ServerSocket();
        try {
            listener.bind(address, BACKLOG);
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        Thread.ofPlatform().daemon().name("madeleine-bootstrap").start(this::acceptAll);
    }

    /** Where it listens. */
    InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    /** Admits only this session, and nobody after it has met; the server closes when it ended. */
    void serveOnly(String session) {
        lock.lock();
        try {
            onlySession = session;
        } finally {
            lock.unlock();
        }
    }

    private void acceptAll() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                strangers.enter(socket);
                Thread.ofPlatform().daemon().name("madeleine-control-server").start(() -> serve(socket));
            } catch (InterruptedException _) {
                return; // nobody interrupts it but to end it
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    LOGGER.log(Level.WARNING, "accepting a control connection failed: " + e.getMessage());
                    pause();
                }
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50); // out of file descriptors, probably: give others time to close some
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Socket socket) {
        ControlMessage.Hello hello;
        ControlConnection connection;
        try {
            connection = ControlConnection.accept(socket, key, HANDSHAKE_TIMEOUT_MS);
            hello = greeting(connection);
        } catch (IOException e) {
            LOGGER.log(Level.DEBUG, () -> "refused " + socket.getRemoteSocketAddress() + ": " + e.getMessage());
            if (e instanceof ControlConnection.HandshakeException) {
                turnedAway = "; " + socket.getRemoteSocketAddress() + " was refused: " + e.getMessage();
            }
            closeQuietly(socket);
            return;
        } finally {
            strangers.leave(socket);
        }
        connections.add(connection);
        try {
            if (!closed) { // it may have been accepted while the server was being closed
                join(connection, hello);
            }
        } finally {
            connections.remove(connection);
            connection.close();
        }
    }

    private static ControlMessage.Hello greeting(ControlConnection connection) throws IOException {
        return switch (connection.receive().orElse(null)) {
            case ControlMessage.Hello first -> first;
            case null -> throw new IOException("no greeting in " + HANDSHAKE_TIMEOUT_MS + " ms");
            case ControlMessage other -> throw new IOException("expected a greeting, found " + other);
        };
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    private void join(ControlConnection connection, ControlMessage.Hello hello) {
        Room room;
        lock.lock();
        try {
            String refusal = refusal(hello);
            if (!refusal.isEmpty()) {
                connection.trySend(new ControlMessage.Refused(refusal));
                return;
            }
            room = roomFor(hello);
            room.admit(connection, hello);
        } finally {
            lock.unlock();
        }
        if (servesOnlyOne() && room.isFull()) {
            stopListening();
        }
        room.serve(hello.rank(), connection);
        roomLeft(hello.session(), room);
    }

    private boolean servesOnlyOne() {
        lock.lock();
        try {
            return !onlySession.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private String refusal(ControlMessage.Hello hello) {
        if (!onlySession.isEmpty() && !onlySession.equals(hello.session())) {
            return "here the session " + onlySession + " meets, not " + hello.session()
                    + ": expected the same madeleine.session.name, or another port in madeleine.session.hosts";
        }
        if (hello.size() != settings.size()) {
            return "it expects " + hello.size() + " processes, the session has " + settings.size()
                    + ": madeleine.session.size differs";
        }
        if (hello.rank() < 0 || hello.rank() >= settings.size()) {
            return "rank " + hello.rank() + ": expected 0 to " + (settings.size() - 1);
        }
        for (Room room : rooms.getOrDefault(hello.session(), new ArrayDeque<>())) {
            if (room.isPresent(hello.rank())) {
                return "rank " + hello.rank() + " is in session " + hello.session() + " already, as process "
                        + room.pidOf(hello.rank()) + ": expected another madeleine.session.rank or .name";
            }
        }
        return "";
    }

    /** The first meeting which this rank has not been in. */
    private Room roomFor(ControlMessage.Hello hello) {
        Deque<Room> meetings = rooms.computeIfAbsent(hello.session(), _ -> new ArrayDeque<>());
        for (Room room : meetings) {
            if (!room.knows(hello.rank())) {
                return room;
            }
        }
        Room room = new Room(idPrefix + "-" + roomCount++, settings, this);
        meetings.add(room);
        return room;
    }

    private void roomLeft(String session, Room room) {
        boolean closing = false;
        lock.lock();
        try {
            Deque<Room> meetings = rooms.get(session);
            if (room.isOver() && meetings != null && meetings.remove(room) && meetings.isEmpty()) {
                rooms.remove(session);
                closing = !onlySession.isEmpty() && rooms.isEmpty();
            }
        } finally {
            lock.unlock();
        }
        if (closing) {
            close();
        }
    }

    /** Tells the others of all sessions why a process ended, if its connection has not said so yet. */
    void processEnded(int rank, String reason) {
        List<Room> all = new ArrayList<>();
        lock.lock();
        try {
            rooms.values().forEach(all::addAll);
        } finally {
            lock.unlock();
        }
        all.forEach(room -> room.lost(rank, reason));
    }

    @Override
    public void processLost() {
        processLost = true;
    }

    @Override
    public String turnedAway() {
        return turnedAway;
    }

    /** Whether a process has ended, or seemed to, without leaving its session. */
    boolean hasLostProcess() {
        return processLost;
    }

    private void stopListening() {
        try {
            listener.close();
        } catch (IOException e) {
            LOGGER.log(Level.DEBUG, "closing the bootstrap server's socket failed", e);
        }
    }

    @Override
    public void close() {
        closed = true;
        stopListening();
        connections.forEach(ControlConnection::close);
    }
}
