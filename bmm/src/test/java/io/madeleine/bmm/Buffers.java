package io.madeleine.bmm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A link with a few buffers of eight bytes, which notes what is sent and holds the sender to the order of calls. */
class Buffers implements StaticLink {
    static final int BUFFER_BYTES = 8;

    private static final int BUFFERS = 4;

    /** The packets in order, each as its header in words and its payload. */
    final List<String> sent = new ArrayList<>();

    private final AggregationMode aggregation;
    private final MemorySegment memory = MemorySegment.ofArray(new byte[BUFFERS * BUFFER_BYTES]);

    /** How many more buffers can be claimed. */
    int free = Integer.MAX_VALUE;

    boolean closed;

    @Nullable
    OutOfMemoryError failure;

    int announced;
    int abandoned;
    boolean claimed;
    private int turn;

    Buffers(AggregationMode aggregation) {
        this.aggregation = aggregation;
    }

    /** As {@link Buffers}, for a link that can send or receive a packet of one block in a call. */
    static final class OneStep extends Buffers implements OneStepLink {
        boolean able = true;

        /** The payload of the packet in front. */
        @Nullable
        String arrived;

        OneStep(AggregationMode aggregation) {
            super(aggregation);
        }

        @Override
        public boolean sendPacket(long header, MemorySegment block, long offset) {
            assertFalse(claimed, "while no buffer is claimed");
            if (!able) {
                return false;
            }
            sent.add("in one step, " + Texts.packet(header, block, offset));
            return true;
        }

        @Override
        public boolean receivePacket(long header, MemorySegment block, long offset) {
            sent.add("asked for " + PacketHeader.describe(header));
            String payload = arrived;
            if (payload == null || payload.length() != PacketHeader.payloadBytes(header)) {
                return false;
            }
            Blocks.copy(Texts.block(payload), 0, block, offset, payload.length());
            arrived = null;
            return true;
        }
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return new TransmissionCapabilities(
                "test/buffers",
                BufferMode.STATIC,
                LinkMode.BUFFER,
                aggregation,
                Long.MAX_VALUE,
                BUFFER_BYTES,
                "a link with small buffers");
    }

    @Override
    public long claim() {
        fail();
        assertFalse(claimed, "one buffer at a time");
        if (closed) {
            return LinkStatus.CLOSED;
        }
        if (free == 0) {
            return LinkStatus.PENDING;
        }
        free--;
        claimed = true;
        return offset();
    }

    private long offset() {
        return (long) turn * BUFFER_BYTES;
    }

    private void fail() {
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public void commit(long header) {
        fail();
        assertTrue(claimed, "a claimed buffer is sent");
        assertTrue(PacketHeader.payloadBytes(header) <= BUFFER_BYTES, "a buffer holds it");
        sent.add(Texts.packet(header, memory, offset()));
        claimed = false;
        turn = (turn + 1) % BUFFERS;
    }

    @Override
    public void announce() {
        announced++;
    }

    @Override
    public void abandon() {
        assertTrue(claimed, "a claimed buffer is given back");
        claimed = false;
        abandoned++;
    }

    @Override
    public long front() {
        return 0;
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        return 0;
    }

    @Override
    public long skip(long maxBytes) {
        return 0;
    }

    @Override
    public void release() {}
}
