package io.madeleine.bench;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A message of small blocks through the public API over sci, sent and received by one thread: the work of both
 * ends, without the transfer between two cores. The time divided by the number of blocks is the cost of a pack and its
 * unpack.
 */
public class PackBenchmark extends AbstractBenchmark {
    private static final long BLOCK_BYTES = 16;

    /** How many blocks a message has. */
    @Param({"1", "8"})
    public int blocks;

    /** The mode in which the blocks are received. */
    @Param({"CHEAPER", "EXPRESS"})
    public ReceiveMode receiveMode = ReceiveMode.CHEAPER;

    @SuppressWarnings("NullAway.Init") // JMH calls open first
    private SessionPair ends;

    @SuppressWarnings("NullAway.Init")
    private MemorySegment sent;

    @SuppressWarnings("NullAway.Init")
    private MemorySegment received;

    /** Opens both ends. */
    @Setup(Level.Trial)
    public void open() throws IOException {
        ends = SessionPair.open("sci");
        sent = ends.sender().allocate(BLOCK_BYTES);
        received = ends.receiver().allocate(BLOCK_BYTES);
        System.gc(); // the objects of a session are old, and stores into old objects cost more
    }

    /** One message. */
    @Benchmark
    public MemorySegment message() {
        OutgoingMessage outgoing = ends.out().beginPacking(1);
        for (int i = 0; i < blocks; i++) {
            outgoing.pack(sent, 0, BLOCK_BYTES, SendMode.CHEAPER, receiveMode);
        }
        outgoing.endPacking();
        outgoing.close();
        IncomingMessage incoming = ends.in().beginUnpacking();
        for (int i = 0; i < blocks; i++) {
            incoming.unpack(received, 0, BLOCK_BYTES, SendMode.CHEAPER, receiveMode);
        }
        incoming.endUnpacking();
        incoming.close();
        return received;
    }

    /** Closes both ends. */
    @TearDown(Level.Trial)
    public void close() {
        ends.close();
    }
}
