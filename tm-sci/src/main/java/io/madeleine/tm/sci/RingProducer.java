package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.MemorySegment;

/**
 * The sending end of a ring (compare the fastboxes of the Nemesis paper, section 3.2, and the short module of
 * Madeleine II, section 5.2.3: a header that is not 0 says that its message is there, so one cache line carries both).
 *
 * <p>Each record is written payload first; then the header word of the record to come is set to 0, and at last the own
 * header, with release. So the receiver always finds 0 where nothing has been written yet, and never has to write into
 * the ring.
 *
 * <p>Threading: single-writer (whoever holds the send lock); {@link #hasRoom()} any thread.
 */
final class RingProducer {
    /** What {@link #claim()} answers when the receiver says it is where it cannot be. */
    static final long BROKEN = Long.MIN_VALUE;

    private static final long CACHE_LINE_BYTES = 64;

    private final MemorySegment memory;
    private final RingLayout layout;
    private final int ringBytes;
    private final long dataOffset;
    private final long lapMask;
    private volatile long position;
    private long plainPosition;
    private long consumedPosition;

    RingProducer(MemorySegment memory, RingLayout layout) {
        this.memory = memory;
        this.layout = layout;
        this.ringBytes = layout.ringBytes();
        this.dataOffset = layout.dataOffset();
        this.lapMask = ringBytes - 1L;
    }

    /** The offset of the payload of the next record, {@link LinkStatus#PENDING}, or {@link #BROKEN}. */
    long claim() {
        long begin = plainPosition;
        if (!RingLayout.CACHES_POSITIONS || claimEnd(begin) - consumedPosition > ringBytes) {
            long consumed = Words.acquire(memory, layout.consumerOffset());
            if (consumed < consumedPosition || consumed > begin) {
                return BROKEN;
            }
            consumedPosition = consumed;
            if (claimEnd(begin) - consumed > ringBytes) {
                position = begin;
                return LinkStatus.PENDING;
            }
        }
        return layout.headerOffset(begin) + Long.BYTES;
    }

    /** Up to where a claim may write: a record of any size, and the header word of the one after it. */
    private long claimEnd(long begin) {
        long end = begin + 2 * Long.BYTES + layout.bufferBytes();
        long nextLap = (begin | ringBytes - 1) + 1;
        return Math.min(end, nextLap + Long.BYTES);
    }

    /** Publishes the claimed record. */
    void commit(long header) {
        publish(plainPosition, header);
    }

    /**
     * Claims, fills and publishes a record, as far as there is room that {@link #claim()} has seen; returns whether that is done. If
     * the block's memory is gone, nothing is.
     */
    boolean put(long header, MemorySegment block, long offset) {
        long begin = plainPosition;
        if (!RingLayout.CACHES_POSITIONS || claimEnd(begin) - consumedPosition > ringBytes) {
            return false;
        }
        Blocks.copy(block, offset, memory, headerOffset(begin) + Long.BYTES, PacketHeader.payloadBytes(header));
        publish(begin, header);
        return true;
    }

    private void publish(long begin, long header) {
        int payloadBytes = PacketHeader.payloadBytes(header);
        long next = next(begin, payloadBytes);
        Words.setPlain(memory, headerOffset(next), 0);
        Words.setRelease(memory, headerOffset(begin), header);
        plainPosition = next;
        warm(next, payloadBytes);
    }

    private long next(long begin, int payloadBytes) {
        return RingLayout.next(begin, payloadBytes, lapMask);
    }

    private long headerOffset(long at) {
        return dataOffset + (at & lapMask);
    }

    /**
     * Takes the cache line where the record after the next will have its header, if that is as long as the last: when it is
     * set to 0 the line is here, and nobody waits for it.
     */
    private void warm(long next, int payloadBytes) {
        long ahead = next(next, payloadBytes);
        if (((ahead ^ next) & -CACHE_LINE_BYTES) != 0 && ahead + Long.BYTES - consumedPosition <= ringBytes) {
            Words.setPlain(memory, headerOffset(ahead), 0);
        }
    }

    /** Whether the receiver says that it has read all; it need not say so at once. Of the sender. */
    boolean isAllRead() {
        return Words.acquire(memory, layout.consumerOffset()) == plainPosition;
    }

    /** Whether a claim that was refused would succeed now, or be {@link #BROKEN}. */
    boolean hasRoom() {
        long begin = position;
        long consumed = Words.acquire(memory, layout.consumerOffset());
        return claimEnd(begin) - consumed <= ringBytes || consumed < 0;
    }
}
