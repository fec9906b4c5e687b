package io.madeleine.bench;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.Channel;
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
 * A message of bytes that lie in many ranges at both ends, twice as far apart as they are long: as one block with a
 * layout, as a block per range, and copied by its user into and out of a contiguous block. Sent and received by one
 * thread, which ends the message without waiting, so that any size goes through.
 */
public class LayoutBenchmark extends AbstractBenchmark {
    /** How the ranges are sent. */
    public enum Form {
        /** As one block with a strided layout. */
        LAYOUT,

        /** As one block with a layout that names each range. */
        LIST,

        /** As a block each. */
        BLOCKS,

        /** By copies of their user's. */
        COPIES
    }

    /** The network. */
    @Param({"sci", "tcp"})
    public String network = "sci";

    /** How many bytes all ranges have. */
    @Param({"65536"})
    public int bytes;

    /** How many bytes a range has. */
    @Param({"8", "64", "1024", "8192"})
    public int rangeBytes;

    /** How the ranges are sent. */
    @Param
    public Form form = Form.LAYOUT;

    @SuppressWarnings("NullAway.Init") // JMH calls open first
    private SessionPair ends;

    @SuppressWarnings("NullAway.Init")
    private Side source;

    @SuppressWarnings("NullAway.Init")
    private Side target;

    /** What an end has: the ranges, and a contiguous block. */
    private record Side(MemorySegment ranges, MemorySegment block, BlockLayout strided, BlockLayout list) {
        static Side of(MemorySegment ranges, MemorySegment block, int rangeBytes) {
            int count = (int) (block.byteSize() / rangeBytes);
            BlockLayout.Part[] parts = new BlockLayout.Part[count];
            for (int i = 0; i < count; i++) {
                parts[i] = new BlockLayout.Part(ranges, 2L * i * rangeBytes, rangeBytes);
            }
            return new Side(
                    ranges,
                    block,
                    BlockLayout.strided(ranges, 0, rangeBytes, 2L * rangeBytes, count),
                    BlockLayout.of(parts));
        }
    }

    /** Opens both ends. */
    @Setup(Level.Trial)
    public void open() throws IOException {
        ends = SessionPair.open(network);
        source = Side.of(ends.sender().allocate(2L * bytes), ends.sender().allocate(bytes), rangeBytes);
        target = Side.of(ends.receiver().allocate(2L * bytes), ends.receiver().allocate(bytes), rangeBytes);
        System.gc(); // the objects of a session are old, and stores into old objects cost more
    }

    /** A message. */
    @Benchmark
    public MemorySegment message() {
        Channel out = ends.out();
        OutgoingMessage outgoing = out.beginPacking(1);
        pack(outgoing);
        var sent = outgoing.endPackingAsync();
        IncomingMessage incoming = ends.in().beginUnpacking();
        unpack(incoming);
        incoming.close();
        sent.await();
        outgoing.close();
        return target.ranges;
    }

    private void pack(OutgoingMessage outgoing) {
        switch (form) {
            case LAYOUT -> outgoing.pack(source.strided);
            case LIST -> outgoing.pack(source.list);
            case BLOCKS -> {
                for (long at = 0; at < bytes; at += rangeBytes) {
                    outgoing.pack(source.ranges, 2 * at, rangeBytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                }
            }
            case COPIES -> {
                for (long at = 0; at < bytes; at += rangeBytes) {
                    MemorySegment.copy(source.ranges, 2 * at, source.block, at, rangeBytes);
                }
                outgoing.pack(source.block);
            }
        }
    }

    private void unpack(IncomingMessage incoming) {
        switch (form) {
            case LAYOUT -> incoming.unpack(target.strided).endUnpacking();
            case LIST -> incoming.unpack(target.list).endUnpacking();
            case BLOCKS -> {
                for (long at = 0; at < bytes; at += rangeBytes) {
                    incoming.unpack(target.ranges, 2 * at, rangeBytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                }
                incoming.endUnpacking();
            }
            case COPIES -> {
                incoming.unpack(target.block).endUnpacking();
                for (long at = 0; at < bytes; at += rangeBytes) {
                    MemorySegment.copy(target.block, at, target.ranges, 2 * at, rangeBytes);
                }
            }
        }
    }

    /** Closes both ends. */
    @TearDown(Level.Trial)
    public void close() {
        ends.close();
    }
}
