package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.MemorySegment;

/**
 * The sending end of a ring. A record's header word is its ready flag: it is not 0 once the record is there, so that a
 * small message travels in one cache line. Compare the fastboxes of the Nemesis paper (section 3.2) and the short
 * module of Madeleine II (section 5.2.3).
 *
 * <p>The producer writes the payload first, then sets the header word of the <em>next</em> record to 0, and last writes
 * this record's header with release order. So the receiver always finds 0 where no record has been written yet, and
 * never has to write into the ring.
 *
 * <p>Threading: single-writer (the holder of the send lock); {@link #hasRoom()} any thread.
 */
final class RingProducer {
    /** Returned by {@link #claim()} if the receiver has published an impossible position. */
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

    /** Returns the offset of the next record's payload, {@link LinkStatus#PENDING}, or {@link #BROKEN}. */
    long claim() {
        long begin = plainPosition;
        if (!RingLayout.CACHES_POSITIONS || claimEnd(begin) - consumedPosition > ringBytes) {
            long consumed = OrderedWords.acquire(memory, layout.consumerOffset());
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

    /** The position up to which a claim may write: a record of any size, and the header word of the next one. */
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
     * Claims, fills and publishes a record if there is room that {@link #claim()} has seen already.
     *
     * @return whether the record was published
     * @throws IllegalStateException if the block's memory has been freed; nothing is published then
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
        OrderedWords.setPlain(memory, headerOffset(next), 0);
        OrderedWords.setRelease(memory, headerOffset(begin), header);
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
     * Writes to the cache line of the header after the next, assuming that the next record is as long as this one. So
     * this processor owns the line before it has to set that header to 0, and no send waits for it.
     */
    private void warm(long next, int payloadBytes) {
        long ahead = next(next, payloadBytes);
        if (((ahead ^ next) & -CACHE_LINE_BYTES) != 0 && ahead + Long.BYTES - consumedPosition <= ringBytes) {
            OrderedWords.setPlain(memory, headerOffset(ahead), 0);
        }
    }

    /**
     * Whether the receiver has published that it has read everything; it need not publish this at once. Called by the
     * sender.
     */
    boolean isAllRead() {
        try {
            return OrderedWords.acquire(memory, layout.consumerOffset()) == plainPosition;
        } catch (IllegalStateException _) {
            return true; // The memory has been freed: there is no receiver.
        }
    }

    /** Whether a claim that was {@link LinkStatus#PENDING} would succeed now, or be {@link #BROKEN}. */
    boolean hasRoom() {
        long begin = position;
        long consumed = OrderedWords.acquire(memory, layout.consumerOffset());
        return claimEnd(begin) - consumed <= ringBytes || consumed < 0;
    }
}
