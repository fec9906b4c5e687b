package io.madeleine.pmm.faults;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a link with faults: takes what has arrived out of the link, and hands it on when it is due. It
 * holds {@value #MOST_BYTES} bytes and a packet more; what comes beyond waits in the network and stops the sender
 * there.
 *
 * <p>Threading: confined to the thread that holds the lock of the connection.
 */
final class DelayedStream {
    /** How much it takes out of the link at most before any of it is due. */
    static final int MOST_BYTES = 1 << 20;

    private static final int CHUNK_BYTES = 1 << 16;

    /** What a packet costs beside its payload, so that empty packets count, too. */
    private static final int PACKET_BYTES = 64;

    private final TransmissionLink inner;
    private final BufferGroup group = new BufferGroup();
    private final Deque<Packet> packets = new ArrayDeque<>();
    private final boolean whole;
    private @Nullable Packet arriving;
    private @Nullable Chunk filling;
    private long arrivingBytes;
    private long heldBytes;
    private long lastDueNs;
    private boolean closed;

    /** A packet of which the header has arrived. */
    private static final class Packet {
        final long header;
        final long dueNs;
        final Deque<Chunk> chunks = new ArrayDeque<>();

        /** Whether the layer above knows of it. */
        boolean seen;

        Packet(long header, long dueNs) {
            this.header = header;
            this.dueNs = dueNs;
        }
    }

    /** Payload that arrived together. */
    private static final class Chunk {
        final MemorySegment bytes;
        long arrived;
        long taken;
        long dueNs;

        Chunk(int capacity) {
            this.bytes = MemorySegment.ofArray(new byte[capacity]);
        }

        long left() {
            return arrived - taken;
        }
    }

    DelayedStream(TransmissionLink inner, long nowNs) {
        this.inner = inner;
        this.whole = inner.capabilities().aggregation() == AggregationMode.SYMMETRIC;
        this.lastDueNs = nowNs;
    }

    /** Takes out of the link what has arrived, as far as there is room; returns how many packets and chunks. */
    int takeIn(long nowNs, Timing timing) {
        int taken = 0;
        while (!closed && hasRoom()) {
            Packet packet = arriving;
            if (packet == null) {
                long header = inner.front();
                if (header == LinkStatus.CLOSED) {
                    closed = true;
                }
                if (header <= 0) {
                    break;
                }
                lastDueNs = timing.due(nowNs, lastDueNs);
                packet = new Packet(header, lastDueNs);
                packets.add(packet);
                arriving = packet;
                arrivingBytes = PacketHeader.payloadBytes(header);
                heldBytes += PACKET_BYTES;
                taken++;
            }
            if (arrivingBytes > 0) {
                if (!takeChunk(packet, nowNs, timing)) {
                    break;
                }
                taken++;
            }
            if (arrivingBytes == 0) {
                inner.release();
                arriving = null;
            }
        }
        return taken;
    }

    /**
     * Moves payload into a new chunk, or into the one that was begun: a module that gives packets as a whole only fills
     * one chunk with the packet. Memory is taken before bytes are: if it is short, nothing is lost.
     */
    private boolean takeChunk(Packet packet, long nowNs, Timing timing) {
        Chunk chunk = filling;
        if (chunk == null) {
            chunk = new Chunk((int) (whole ? arrivingBytes : Math.min(arrivingBytes, CHUNK_BYTES)));
            packet.chunks.add(chunk);
            filling = chunk;
            heldBytes += chunk.bytes.byteSize();
            group.clear();
            group.add(chunk.bytes, 0, chunk.bytes.byteSize());
        }
        long moved = inner.receive(group, group.remainingBytes());
        if (moved == 0) {
            return false;
        }
        chunk.arrived += moved;
        arrivingBytes -= moved;
        if (!whole || group.isEmpty()) {
            lastDueNs = timing.due(nowNs, lastDueNs);
            chunk.dueNs = lastDueNs;
            filling = null;
        }
        return true;
    }

    /** Whether it takes in more. What it has begun it takes whole. */
    boolean hasRoom() {
        return filling != null || heldBytes < MOST_BYTES;
    }

    /** As {@link TransmissionLink#front}. */
    long front(long nowNs) {
        Packet packet = packets.peek();
        if (packet == null) {
            return closed ? LinkStatus.CLOSED : 0;
        }
        if (packet.dueNs - nowNs > 0) {
            return 0;
        }
        packet.seen = true;
        return packet.header;
    }

    /** As {@link TransmissionLink#receive}, or {@link TransmissionLink#skip} if there is no group. */
    long receive(@Nullable BufferGroup target, long maxBytes, long nowNs) {
        Packet packet = packets.peek();
        long moved = 0;
        while (packet != null && moved < maxBytes) {
            Chunk chunk = packet.chunks.peek();
            if (chunk == null || chunk == filling || chunk.dueNs - nowNs > 0) {
                break;
            }
            long here = take(chunk, target, Math.min(chunk.left(), maxBytes - moved));
            moved += here;
            if (chunk.left() == 0) {
                packet.chunks.remove();
                heldBytes -= chunk.bytes.byteSize();
            } else if (here == 0) {
                break;
            }
        }
        return moved;
    }

    private static long take(Chunk chunk, @Nullable BufferGroup target, long bytes) {
        if (target == null) {
            chunk.taken += bytes;
            return bytes;
        }
        long before = target.remainingBytes();
        try {
            return target.fillFrom(chunk.bytes, chunk.taken, bytes);
        } finally { // a block whose memory was freed may lie behind others
            chunk.taken += before - target.remainingBytes();
        }
    }

    /** As {@link TransmissionLink#release}; always 0. */
    long release(long nowNs) {
        if (packets.poll() != null) { // null: cut meanwhile
            heldBytes -= PACKET_BYTES;
        }
        return 0;
    }

    /** The connection is gone: nothing more arrives, and what was held is dropped. */
    void close() {
        closed = true;
        arriving = null;
        filling = null;
        packets.clear();
        heldBytes = 0;
    }

    /** Whether all that was taken out of the link is due. */
    boolean isAllDue(long nowNs) {
        return packets.isEmpty() || lastDueNs - nowNs <= 0;
    }

    /**
     * How long until the layer above can take something that it has not seen: 0 or less if it can now, {@link
     * Long#MAX_VALUE} if nothing is held.
     */
    long untilNextNs(long nowNs) {
        Packet packet = packets.peek();
        if (packet == null) {
            return Long.MAX_VALUE;
        }
        if (!packet.seen) {
            return packet.dueNs - nowNs;
        }
        Chunk chunk = packet.chunks.peek();
        return chunk == null || chunk == filling ? Long.MAX_VALUE : chunk.dueNs - nowNs;
    }
}
