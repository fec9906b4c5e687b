package io.madeleine.bench;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Line;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Samples;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One of the two processes that measure {@link Pattern#GOODPUT}, in a session: rank 1 sends one message after the other
 * until rank 0 asks it to stop; rank 0 tells how much payload came.
 *
 * <p>Threading: confined to caller.
 */
public final class GoodputProcess implements ControlLine.Program {
    private static final int SETTINGS = 1;

    /** A sample takes this long, or as long as one message. */
    private static final long SAMPLE_NS = 100_000_000;

    private static final MemorySegment STOP = MemorySegment.ofArray(new byte[1]);

    private final Session session;
    private final Channel channel;
    private final MemorySegment memory;

    private GoodputProcess(List<String> settings, ControlLine line) {
        session = Session.open(settings.toArray(String[]::new));
        channel = session.channel(PerfProcess.CHANNEL);
        memory = session.allocate(line.memoryBytes());
    }

    /** Started by {@code mad perf} with the rank and settings of the session. */
    public static void main(String[] arguments) {
        List<String> settings = Arrays.asList(arguments).subList(SETTINGS, arguments.length);
        ControlLine.serveProgram(Integer.parseInt(arguments[0]), line -> {
            line.exchangeContacts("-");
            return new GoodputProcess(settings, line);
        });
    }

    @Override
    public Pattern pattern(String word) {
        return Patterns.of(word);
    }

    @Override
    public Round carryOut(Order order) {
        MemorySegment block = memory.asSlice(0, order.bytes());
        Samples samples = new Samples(order);
        if (session.rank() == 0) {
            receive(order.bytes(), block, samples);
        } else {
            send(block);
            samples.begin();
            samples.end(0, 1); // the receiver's count
        }
        return samples.round();
    }

    /** The share of the line that so many bytes took, in percent. */
    static double share(long bytes, long elapsedNs) {
        return 100e9 * Byte.SIZE * bytes / Line.BITS_PER_S / Math.max(1, elapsedNs);
    }

    private void receive(long bytes, MemorySegment block, Samples samples) {
        for (long count = 0; samples.isCold(count); count++) {
            isLast(block);
        }
        while (!samples.isOver()) {
            long beginNs = System.nanoTime();
            long elapsedNs = 0;
            long count = 0;
            samples.begin();
            for (; elapsedNs < SAMPLE_NS; count++) {
                isLast(block);
                elapsedNs = System.nanoTime() - beginNs;
            }
            samples.end(share(bytes * count, elapsedNs), count);
        }
        channel.send(1, STOP, SendMode.SAFER, ReceiveMode.EXPRESS);
        while (!isLast(block)) {
            // it was sent before the sender heard of the end
        }
    }

    /** Receives a message; returns whether it is the last one. */
    private boolean isLast(MemorySegment block) {
        IncomingMessage in = channel.beginUnpacking();
        in.unpack(block);
        in.endUnpacking();
        return block.get(ValueLayout.JAVA_BOOLEAN, 0);
    }

    private void send(MemorySegment block) {
        boolean isLast;
        do {
            Optional<IncomingMessage> stop = channel.tryBeginUnpacking();
            isLast = stop.isPresent();
            stop.ifPresent(in -> {
                in.unpack(new byte[1], SendMode.SAFER, ReceiveMode.EXPRESS);
                in.endUnpacking();
            });
            block.set(ValueLayout.JAVA_BOOLEAN, 0, isLast);
            channel.beginPacking(0).pack(block).endPacking();
        } while (!isLast);
    }

    @Override
    public void close() {
        session.close();
    }
}
