package io.madeleine.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Driver and responder as two threads, with a wire that notes where messages are. */
class ExchangeTest {
    private static final int BYTES = 100;

    private static final class QueueWire implements Wire {
        private final BlockingQueue<byte[]> out;
        private final BlockingQueue<byte[]> in;
        private long sentFrom;
        private long receivedInto;

        QueueWire(BlockingQueue<byte[]> out, BlockingQueue<byte[]> in) {
            this.out = out;
            this.in = in;
        }

        @Override
        public void send(Block block, long bytes) {
            out.add(block.memory().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
            sentFrom = bytes == BYTES ? block.memory().address() : sentFrom;
        }

        @Override
        public void receive(Block block, long bytes) {
            try {
                byte[] message = Objects.requireNonNull(in.poll(10, TimeUnit.SECONDS), "nothing came");
                assertEquals(bytes, message.length);
                block.memory().copyFrom(MemorySegment.ofArray(message));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            receivedInto = bytes == BYTES ? block.memory().address() : receivedInto;
        }

        @Override
        public void close() {}
    }

    private final BlockingQueue<byte[]> there = new ArrayBlockingQueue<>(100);
    private final BlockingQueue<byte[]> back = new ArrayBlockingQueue<>(100);
    private final QueueWire driving = new QueueWire(there, back);
    private final QueueWire responding = new QueueWire(back, there);

    private static BlockRing ring() {
        return new BlockRing(Buffers.SAME, BYTES, Arena.ofAuto().allocate(BYTES));
    }

    private Round measure(Pattern pattern) {
        BlockRing received = ring();
        BlockRing own = pattern.isOfOwnBlocks() ? ring() : received;
        CompletableFuture<Void> served =
                CompletableFuture.runAsync(() -> new Responder(responding).serve(own, received, false));
        Order order = new Order(pattern, BYTES, 20_000_000, 5_000_000, 0, Buffers.SAME, false);
        Round round = new Driver(driving).measure(order, ring(), ring());
        served.orTimeout(10, TimeUnit.SECONDS).join();
        return round;
    }

    @Test
    void shouldSendFromUntouchedBlocksAtBothEndsWhenMeasuringAsTheOsuBenchmarks() {
        Round round = measure(Pattern.OSU_LATENCY);
        assertNotEquals(responding.receivedInto, responding.sentFrom);
        assertNotEquals(driving.receivedInto, driving.sentFrom);
        assertTrue(round.min() > 0, round.toString());
    }

    @Test
    void shouldSendBackWhatWasReceivedOtherwise() {
        measure(Pattern.LATENCY);
        assertEquals(responding.receivedInto, responding.sentFrom);
    }

    /** The time counts from the instant until which both compute: it is not that of the computing. */
    @Test
    @Tag("measures")
    void shouldNotCountTheTimeThatBothCompute() {
        Round round = measure(Pattern.COMPUTE_5MS);
        assertTrue(round.min() < 2_500, round.toString()); // half of the 5 ms
    }
}
