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
 * A message of 8 bytes through the public API over sci, sent and received by one thread, in steps and by one call at each end:
 * how much less the latter is.
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

    /** Begun, packed, ended; begun, unpacked, ended. */
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

    /** Sent and received. */
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
