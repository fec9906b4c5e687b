package io.madeleine.bench;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A message of small blocks from begin to end through the public API over sci, sent and received by one thread: what both
 * ends do, without the way between two cores. Divide by the number of blocks for the price of a pack with its unpack.
 */
public class PackBenchmark extends AbstractBenchmark {
    private static final long BLOCK_BYTES = 16;

    /** How many blocks a message has. */
    @Param({"1", "8"})
    public int blocks;

    /** How they are received. */
    @Param({"CHEAPER", "EXPRESS"})
    public ReceiveMode receiveMode = ReceiveMode.CHEAPER;

    @SuppressWarnings("NullAway.Init") // JMH calls open first
    private Ends ends;

    /** Two processes of a session in this JVM. */
    private record Ends(
            Session sender, Session receiver, Channel out, Channel in, MemorySegment sent, MemorySegment received) {
        static Ends open() throws IOException {
            int port;
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            CompletableFuture<Session> other = CompletableFuture.supplyAsync(() -> session(port, 1));
            Session sender = session(port, 0);
            Session receiver = other.join();
            Channel out = sender.channel("default");
            Channel in = receiver.channel("default");
            return new Ends(sender, receiver, out, in, sender.allocate(BLOCK_BYTES), receiver.allocate(BLOCK_BYTES));
        }

        private static Session session(int port, int rank) {
            return Session.open(
                    "session.hosts=127.0.0.1:" + port + ",127.0.0.1",
                    "session.rank=" + rank,
                    "networks=[sci]",
                    "wait.mode=spin");
        }
    }

    /** Opens both ends. */
    @Setup(Level.Trial)
    public void open() throws IOException {
        ends = Ends.open();
        System.gc(); // the objects of a session are old, and stores into old objects cost more
    }

    /** A message. */
    @Benchmark
    public MemorySegment message() {
        OutgoingMessage outgoing = ends.out.beginPacking(1);
        for (int i = 0; i < blocks; i++) {
            outgoing.pack(ends.sent, 0, BLOCK_BYTES, SendMode.CHEAPER, receiveMode);
        }
        outgoing.endPacking();
        outgoing.close();
        IncomingMessage incoming = ends.in.beginUnpacking();
        for (int i = 0; i < blocks; i++) {
            incoming.unpack(ends.received, 0, BLOCK_BYTES, SendMode.CHEAPER, receiveMode);
        }
        incoming.endUnpacking();
        incoming.close();
        return ends.received;
    }

    /** Closes both ends, each from a thread of its own. */
    @TearDown(Level.Trial)
    public void close() {
        CompletableFuture<Void> other = CompletableFuture.runAsync(ends.receiver::close);
        ends.sender.close();
        other.join();
    }
}
