package io.madeleine.bench.measure;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The processes of a subject, usually two, or one, as {@code mad perf} sees them: it waits for them to connect, passes
 * their contacts on, gives all of them each order at once, and waits for the result of the first and for the others to
 * be idle.
 *
 * <p>Threading: confined to caller, but for {@link #close}, which any thread may call.
 */
public final class Pair implements AutoCloseable {
    /** How long processes may take to start and to find each other. */
    private static final long START_S = 45;

    /** How much longer than planned a measurement may take. */
    private static final long PATIENCE_S = 60;

    /** How many lines a process may be ahead. */
    private static final int LINES = 2;

    private static final int POLL_MS = 100;
    private static final int ACCEPT_MS = 5;
    private static final int TOKEN_BYTES = 16;
    private static final String SOCKET = "control";

    private final String name;
    private final int ranks;
    private final ServerSocketChannel server;
    private final Optional<Path> folder; // of the socket's file
    private final String place;
    private final String token;
    private final List<SocketChannel> accepted = new ArrayList<>();
    private final SocketChannel[] sockets; // guarded by itself
    private final List<BlockingQueue<String>> lines = new ArrayList<>();
    private volatile boolean closed;

    /**
     * A place for processes to connect to.
     *
     * @param name the subject of these processes, for messages
     * @param ranks how many there are
     * @param apart whether they have no loopback interface in common with this process, but files
     */
    public Pair(String name, int ranks, boolean apart) {
        this.name = name;
        this.ranks = ranks;
        this.sockets = new SocketChannel[ranks];
        byte[] random = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(random);
        this.token = HexFormat.of().formatHex(random);
        try {
            if (apart) {
                Path own = Files.createTempDirectory("mad-perf");
                this.folder = Optional.of(own);
                this.place = own.resolve(SOCKET).toString();
                this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                this.server.bind(UnixDomainSocketAddress.of(place), ranks);
            } else {
                this.folder = Optional.empty();
                this.server = ServerSocketChannel.open();
                this.server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ranks);
                this.place = Integer.toString(this.server.socket().getLocalPort());
            }
            this.server.configureBlocking(false);
        } catch (IOException e) {
            throw new MeasuringException("cannot listen for the processes: " + e.getMessage(), e);
        }
        for (int rank = 0; rank < ranks; rank++) {
            lines.add(new ArrayBlockingQueue<>(LINES));
        }
    }

    /** The environment variables that the processes need. */
    public Map<String, String> environment() {
        return Map.of(ControlLine.VARIABLE, place + " " + token);
    }

    /**
     * Waits until all processes are ready.
     *
     * @param memoryBytes how much memory the messages of one direction will need
     * @param alive whether the processes still run
     */
    public void connect(long memoryBytes, BooleanSupplier alive) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_S);
        try {
            while (!areAllThere()) {
                if (closed || !alive.getAsBoolean() || deadlineNs - System.nanoTime() < 0) {
                    throw new MeasuringException(name + ": its processes did not start"
                            + (alive.getAsBoolean() ? " within " + START_S + " s" : ": one of them has ended"));
                }
                accept();
            }
            for (int rank = 0; rank < ranks; rank++) {
                say(rank, ControlLine.MEMORY + memoryBytes);
            }
            String first = hear(0, ControlLine.CONTACT, START_S);
            if (ranks == 1) {
                say(0, ControlLine.CONTACT + first);
            }
            for (int rank = 1; rank < ranks; rank++) {
                String contact = hear(rank, ControlLine.CONTACT, START_S);
                if (rank == 1) {
                    say(0, ControlLine.CONTACT + contact);
                }
                say(rank, ControlLine.CONTACT + first);
            }
            for (int rank = 0; rank < ranks; rank++) {
                hear(rank, ControlLine.READY, START_S);
            }
        } catch (IOException e) {
            throw new MeasuringException(name + ": " + e.getMessage(), e);
        }
    }

    private boolean areAllThere() {
        synchronized (sockets) {
            return Arrays.stream(sockets).noneMatch(Objects::isNull);
        }
    }

    /** Accepts a connection if there is one; a thread finds out which process it is from. */
    private void accept() throws IOException {
        SocketChannel socket = server.accept();
        if (socket == null) {
            pause();
            return;
        }
        synchronized (sockets) {
            accepted.add(socket);
        }
        Thread.ofVirtual().start(() -> serve(socket));
    }

    private void pause() {
        try {
            Thread.sleep(ACCEPT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException(name + ": interrupted", e);
        }
    }

    private void serve(SocketChannel socket) {
        try (socket) {
            BufferedReader reader = new BufferedReader(Channels.newReader(socket, StandardCharsets.UTF_8));
            String hello = reader.readLine();
            for (int rank = 0; rank < ranks; rank++) {
                if ((ControlLine.HELLO + token + " " + rank).equals(hello) && take(rank, socket)) {
                    read(reader, rank);
                }
            }
        } catch (IOException _) {
            // it has said nothing
        }
    }

    private boolean take(int rank, SocketChannel socket) {
        synchronized (sockets) {
            if (sockets[rank] != null) {
                return false;
            }
            sockets[rank] = socket;
            return true;
        }
    }

    private void read(BufferedReader reader, int rank) {
        try {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.get(rank).put(line);
            }
            lines.get(rank).put(ControlLine.FAILED + "its process has ended");
        } catch (IOException e) {
            lines.get(rank).offer(ControlLine.FAILED + e.getMessage());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** Has the processes carry out an order. */
    public Round measure(Order order) {
        try {
            for (int rank = ranks - 1; rank >= 0; rank--) {
                say(rank, order.line());
            }
            long patienceS = PATIENCE_S + 2 * TimeUnit.NANOSECONDS.toSeconds(order.durationNs() + order.settleNs());
            Round round = Round.parse(hear(0, "", patienceS));
            for (int rank = 1; rank < ranks; rank++) {
                hear(rank, ControlLine.IDLE, patienceS);
            }
            return round;
        } catch (IOException e) {
            throw new MeasuringException(name + ": " + e.getMessage(), e);
        }
    }

    private void say(int rank, String line) throws IOException {
        SocketChannel socket;
        synchronized (sockets) {
            socket = sockets[rank];
        }
        Channels.newOutputStream(socket).write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** The next line of a process, without the word it has to begin with; fails as well if the other one has failed. */
    private String hear(int rank, String expected, long patienceS) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceS);
        while (deadlineNs - System.nanoTime() > 0) {
            String line = poll(rank);
            if (line.startsWith(ControlLine.FAILED)) {
                throw failure(rank, line);
            }
            if (line.startsWith(expected) && !line.isEmpty()) {
                return line.substring(expected.length());
            }
            if (!line.isEmpty()) {
                throw new MeasuringException(name + ": rank " + rank + " said '" + line + "', expected " + expected);
            }
            for (int other = 0; other < ranks; other++) {
                String theirs = lines.get(other).peek();
                if (theirs != null && theirs.startsWith(ControlLine.FAILED)) {
                    throw failure(other, theirs);
                }
            }
        }
        throw new MeasuringException(name + ": no answer from rank " + rank + " for more than " + patienceS + " s");
    }

    private MeasuringException failure(int rank, String line) {
        return new MeasuringException(name + ": rank " + rank + ": " + line.substring(ControlLine.FAILED.length()));
    }

    private String poll(int rank) {
        try {
            String line = lines.get(rank).poll(POLL_MS, TimeUnit.MILLISECONDS);
            return line == null ? "" : line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException(name + ": interrupted", e);
        }
    }

    /** Releases the processes, which then end by themselves. */
    @Override
    public void close() {
        closed = true;
        try {
            server.close();
            synchronized (sockets) {
                for (SocketChannel socket : accepted) {
                    socket.close();
                }
            }
            if (folder.isPresent()) {
                Files.deleteIfExists(folder.get().resolve(SOCKET));
                Files.deleteIfExists(folder.get());
            }
        } catch (IOException _) {
            // they end at the latest when this process ends
        }
    }
}
