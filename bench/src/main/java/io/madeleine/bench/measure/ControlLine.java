package io.madeleine.bench.measure;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * A measuring process's connection to {@code mad perf}, over which orders come and results go. Between orders the
 * process is blocked reading it, so that it disturbs nobody; when it ends, so does the process.
 *
 * <p>Threading: confined to caller.
 */
public final class ControlLine implements AutoCloseable {
    /** The environment variable that names the port of the loopback interface, or a socket's file, and the token. */
    static final String VARIABLE = "MADELEINE_PERF_CONTROL";

    static final String HELLO = "hello ";
    static final String MEMORY = "memory ";
    static final String CONTACT = "contact ";
    static final String READY = "ready";
    static final String IDLE = "idle";
    static final String FAILED = "failed ";

    private final SocketChannel socket;
    private final BufferedReader reader;
    private final int rank;
    private final String token;
    private final long memoryBytes;

    /** Opens the one end of a wire. */
    @FunctionalInterface
    public interface Opener {
        /**
         * Opens the end of the process with this rank; over the line the ends learn what they have to know of each
         * other.
         */
        Wire open(int rank, ControlLine line) throws Exception;
    }

    private ControlLine(int rank) throws IOException {
        String given = System.getenv(VARIABLE);
        if (given == null) {
            throw new MeasuringException(VARIABLE + " is not set: this program is started by mad perf");
        }
        int end = given.lastIndexOf(' '); // the name of a file may have spaces
        this.rank = rank;
        this.token = given.substring(end + 1);
        this.socket = SocketChannel.open(address(given.substring(0, end)));
        this.reader = new BufferedReader(Channels.newReader(socket, StandardCharsets.UTF_8));
        say(HELLO + token + " " + rank);
        this.memoryBytes = Long.parseLong(hear(MEMORY));
    }

    private static SocketAddress address(String place) {
        return place.startsWith("/")
                ? UnixDomainSocketAddress.of(place)
                : new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(place));
    }

    /** Something that carries out orders by itself, in all processes at once. */
    public interface Program extends AutoCloseable {
        /** The pattern of this word. */
        Pattern pattern(String word);

        /** Carries out an order; the result counts at rank 0. */
        Round carryOut(Order order);

        @Override
        void close();
    }

    /** Starts a program. */
    @FunctionalInterface
    public interface ProgramStart {
        /** In this process. */
        Program start(ControlLine line) throws Exception;
    }

    /** Carries out orders until there are no more. */
    public static void serve(int rank, Opener opener) {
        run(rank, line -> {
            try (Wire wire = opener.open(rank, line)) {
                line.serve(wire);
            }
        });
    }

    /** Has a program carry out orders until there are no more. */
    public static void serveProgram(int rank, ProgramStart start) {
        run(rank, line -> {
            try (Program program = start.start(line)) {
                line.serve(program);
            }
        });
    }

    private interface Work {
        void on(ControlLine line) throws Exception;
    }

    private static void run(int rank, Work work) {
        try (ControlLine line = new ControlLine(rank)) {
            try {
                work.on(line);
            } catch (Exception e) {
                line.say(FAILED + String.valueOf(e).replace('\n', ' '));
                throw e;
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new MeasuringException("rank " + rank + ": " + e, e);
        }
    }

    /** A secret of the two processes of this subject: hexadecimal digits. */
    public String token() {
        return token;
    }

    /** How much memory the messages of one direction need, in bytes. */
    public long memoryBytes() {
        return memoryBytes;
    }

    /**
     * Tells the other process how to reach this one, and learns how to reach the other. A process alone learns its own.
     */
    public String exchangeContacts(String own) throws IOException {
        say(CONTACT + own);
        return hear(CONTACT);
    }

    private void serve(Wire wire) throws IOException {
        BlockMemory memory = new BlockMemory(wire, memoryBytes);
        Driver driver = new Driver(wire);
        Responder responder = new Responder(wire);
        say(READY);
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            Order order = Order.of(line, Pattern::of);
            if (rank == 0) {
                Round round = driver.measure(order, memory.sent(order), memory.received(order));
                say(round.line());
            } else {
                BlockRing received = memory.received(order);
                BlockRing own = order.pattern().isOfOwnBlocks() ? memory.sent(order) : received;
                responder.serve(own, received, order.usage());
                say(IDLE);
            }
        }
    }

    private void serve(Program program) throws IOException {
        say(READY);
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            Round round = program.carryOut(Order.of(line, program::pattern));
            say(rank == 0 ? round.line() : IDLE);
        }
    }

    private void say(String line) throws IOException {
        Channels.newOutputStream(socket).write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private String hear(String expected) throws IOException {
        String line = reader.readLine();
        if (line == null || !line.startsWith(expected)) {
            throw new MeasuringException("mad perf said '" + line + "', expected '" + expected + "...'");
        }
        return line.substring(expected.length());
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The memory of both directions, taken from the wire when it is first needed: large enough for all orders. */
    private static final class BlockMemory {
        private final Wire wire;
        private final long bytes;
        private MemorySegment sent = MemorySegment.NULL;
        private MemorySegment received = MemorySegment.NULL;

        BlockMemory(Wire wire, long bytes) {
            this.wire = wire;
            this.bytes = bytes;
        }

        BlockRing sent(Order order) {
            sent = sent.byteSize() == 0 ? wire.allocate(bytes) : sent;
            return new BlockRing(order.buffers(), order.bytes(), sent);
        }

        BlockRing received(Order order) {
            received = received.byteSize() == 0 ? wire.allocate(bytes) : received;
            return new BlockRing(order.buffers(), order.bytes(), received);
        }
    }
}
