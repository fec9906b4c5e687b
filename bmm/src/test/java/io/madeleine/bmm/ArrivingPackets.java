package io.madeleine.bmm;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A link to which packets come, as a whole or piece by piece; it holds the receiver to the order of calls. */
class ArrivingPackets implements DynamicLink {
    private final AggregationMode aggregation;
    private final Deque<Packet> packets = new ArrayDeque<>();
    boolean closed;

    @Nullable
    OutOfMemoryError failure;

    ArrivingPackets(AggregationMode aggregation) {
        this.aggregation = aggregation;
    }

    /** As {@link ArrivingPackets}, for a link that learns where data will go. */
    static final class Posting extends ArrivingPackets implements PostingLink {
        /** The blocks of each announcement, each as its length and place. */
        final List<String> expected = new ArrayList<>();

        int retractions;
        int retracted = LinkStatus.COMPLETE;

        Posting(AggregationMode aggregation) {
            super(aggregation);
        }

        @Override
        public void expect(BufferGroup blocks) {
            List<String> places = new ArrayList<>();
            for (int i = 0; i < blocks.count(); i++) {
                places.add(blocks.blockBytes(i) + " at " + blocks.offset(i));
            }
            expected.add(String.join(", ", places));
        }

        @Override
        public int retract() {
            retractions++;
            return retracted;
        }

        @Override
        public boolean holdsMemory() {
            return false;
        }
    }

    private static final class Packet {
        private final long header;
        private final MemorySegment payload;
        private long arrived;
        private long taken;

        Packet(long header, String payload) {
            this.header = header;
            this.payload = MemorySegment.ofArray(payload.getBytes(US_ASCII));
            this.arrived = payload.length();
        }
    }

    /** A packet comes, of message 0. */
    void add(int index, int flags, String payload) {
        add(PacketHeader.of(payload.length(), 0, index, flags), payload);
    }

    void add(long header, String payload) {
        packets.add(new Packet(header, payload));
    }

    /** Of the packet in front only so many bytes of payload are there yet. */
    void arrived(long bytes) {
        packets.getFirst().arrived = bytes;
    }

    int count() {
        return packets.size();
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return new TransmissionCapabilities(
                "test/arriving",
                BufferMode.DYNAMIC,
                LinkMode.BUFFER_GROUP,
                aggregation,
                Long.MAX_VALUE,
                0,
                "a link to which packets come");
    }

    private void fail() {
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public long front() {
        fail();
        return packets.isEmpty() ? closed ? LinkStatus.CLOSED : 0 : packets.getFirst().header;
    }

    /** How many bytes can be taken now of these many. */
    private long there(Packet packet, long bytes) {
        assertTrue(bytes <= packet.payload.byteSize() - packet.taken, "at most the rest of the packet");
        return Math.min(bytes, packet.arrived - packet.taken);
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        fail();
        Packet packet = packets.getFirst();
        long before = group.remainingBytes();
        try {
            return group.fillFrom(packet.payload, packet.taken, there(packet, maxBytes));
        } finally {
            packet.taken += before - group.remainingBytes();
        }
    }

    @Override
    public boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        fail();
        Packet packet = packets.getFirst();
        assertTrue(bytes > 0, "at least one byte");
        if (there(packet, bytes) < bytes) {
            return false;
        }
        Blocks.copy(packet.payload, packet.taken, block, offset, bytes);
        packet.taken += bytes;
        return true;
    }

    @Override
    public long skip(long maxBytes) {
        fail();
        Packet packet = packets.getFirst();
        long here = there(packet, maxBytes);
        packet.taken += here;
        return here;
    }

    @Override
    public void release() {
        fail();
        Packet packet = packets.removeFirst();
        assertEquals(packet.payload.byteSize(), packet.taken, "its whole payload has been taken");
    }

    @Override
    public int send(long header, BufferGroup group, long trailer) {
        throw new UnsupportedOperationException("nothing is sent here");
    }
}
