package io.madeleine.bench;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Compares a message of 8 bytes that is packed and unpacked in steps with one that is sent and received by one call at
 * each end: through the public API over sci, by one thread.
 */
public class OneBlockBenchmark extends AbstractBenchmark {
    private static final long BLOCK_BYTES = 8;

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

    /** Both ends in steps: begin, pack, end; begin, unpack, end. */
    @Benchmark
    public MemorySegment inSteps() {
        OutgoingMessage outgoing = ends.out().beginPacking(1);
        outgoing.pack(sent, SendMode.CHEAPER, ReceiveMode.CHEAPER);
        outgoing.endPacking();
        outgoing.close();
        IncomingMessage incoming = ends.in().beginUnpacking();
        incoming.unpack(received, SendMode.CHEAPER, ReceiveMode.CHEAPER);
        incoming.endUnpacking();
        incoming.close();
        return received;
    }

    /** One call at each end. */
    @Benchmark
    public MemorySegment byOneCall() {
        ends.out().send(1, sent, SendMode.CHEAPER, ReceiveMode.CHEAPER);
        int _ = ends.in().receive(received, SendMode.CHEAPER, ReceiveMode.CHEAPER);
        return received;
    }

    /** Closes both ends. */
    @TearDown(Level.Trial)
    public void close() {
        ends.close();
    }
}
