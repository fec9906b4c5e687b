package io.madeleine.switching;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A link over which arrives what the test says, and whose room for sending the test sets. */
class ScriptedLink implements StaticLink {
    static final int BUFFER_BYTES = 64;

    /** A packet that has arrived, and how much of it has been taken. */
    static final class Packet {
        final long header;
        final MemorySegment payload;
        long taken;

        Packet(long header, MemorySegment payload) {
            this.header = header;
            this.payload = payload;
        }
    }

    private final String id;
    private final long maxBlockBytes;
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES, 8);
    final Deque<Packet> packets = new ConcurrentLinkedDeque<>();

    /** The headers of what was sent, and its contents. */
    final List<Long> sent = new CopyOnWriteArrayList<>();

    final List<MemorySegment> contents = new CopyOnWriteArrayList<>();

    final AtomicInteger announcements = new AtomicInteger();

    /** How many packets can be sent. */
    final AtomicInteger room = new AtomicInteger(Integer.MAX_VALUE);

    /** What a link without room says. */
    volatile int full = LinkStatus.PENDING;

    volatile @Nullable Throwable thrownBySender;
    volatile @Nullable Throwable thrownByReceiver;
    volatile Runnable onFront = () -> {};
    volatile Runnable onClaim = () -> {};

    /** Set before a half is made. */
    volatile AggregationMode aggregation = AggregationMode.ASYMMETRIC;

    /** Calls of the receiving half. */
    final AtomicInteger looks = new AtomicInteger();

    private final AtomicInteger inside = new AtomicInteger();
    volatile boolean violated;

    ScriptedLink(String id, long maxBlockBytes) {
        this.id = id;
        this.maxBlockBytes = maxBlockBytes;
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return new TransmissionCapabilities(
                id,
                BufferMode.STATIC,
                LinkMode.BUFFER_GROUP,
                aggregation,
                maxBlockBytes,
                BUFFER_BYTES,
                "as a test says");
    }

    private static void fail(@Nullable Throwable thrown) {
        if (thrown instanceof Error e) {
            throw e;
        }
        if (thrown instanceof RuntimeException e) {
            throw e;
        }
    }

    // ---- receiving

    void arrive(long header, int... payload) {
        byte[] bytes = new byte[payload.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) payload[i];
        }
        packets.add(new Packet(header, MemorySegment.ofArray(bytes)));
    }

    @Override
    public long front() {
        violated |= inside.getAndIncrement() != 0;
        try {
            looks.incrementAndGet();
            onFront.run();
            fail(thrownByReceiver);
            return packets.isEmpty() ? 0 : packets.getFirst().header;
        } finally {
            inside.getAndDecrement();
        }
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        fail(thrownByReceiver);
        Packet packet = packets.getFirst();
        long before = group.remainingBytes();
        group.fillFrom(packet.payload, packet.taken, maxBytes);
        packet.taken += before - group.remainingBytes();
        return before - group.remainingBytes();
    }

    @Override
    public boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        fail(thrownByReceiver);
        Packet packet = packets.getFirst();
        MemorySegment.copy(packet.payload, packet.taken, block, offset, bytes);
        packet.taken += bytes;
        return true;
    }

    @Override
    public long skip(long maxBytes) {
        fail(thrownByReceiver);
        packets.getFirst().taken += maxBytes;
        return maxBytes;
    }

    @Override
    public void release() {
        packets.removeFirst();
    }

    // ---- sending

    @Override
    public long claim() {
        onClaim.run();
        fail(thrownBySender);
        return room.get() > 0 ? 0 : full;
    }

    @Override
    public MemorySegment memory() {
        return buffer;
    }

    @Override
    public void commit(long header) {
        room.decrementAndGet();
        contents.add(MemorySegment.ofArray(
                buffer.asSlice(0, PacketHeader.payloadBytes(header)).toArray(ValueLayout.JAVA_BYTE)));
        sent.add(header);
    }

    @Override
    public void announce() {
        announcements.incrementAndGet();
    }

    @Override
    public void abandon() {}

    /** Whether the last packet ended its message; it says too whether as an abort. */
    String lastSent() {
        long header = sent.getLast();
        return PacketHeader.has(header, PacketHeader.ABORT)
                ? "abort"
                : PacketHeader.has(header, PacketHeader.LAST) ? "end" : "part";
    }

    /** A link that holds memory as long as the test says. */
    static final class Posting extends ScriptedLink implements PostingLink {
        volatile boolean holds;
        volatile int retraction = LinkStatus.COMPLETE;
        final AtomicInteger expected = new AtomicInteger();

        Posting(String id) {
            super(id, Long.MAX_VALUE);
        }

        @Override
        public void expect(BufferGroup blocks) {
            expected.incrementAndGet();
        }

        @Override
        public int retract() {
            return retraction;
        }

        @Override
        public boolean holdsMemory() {
            return holds;
        }
    }
}
