package io.madeleine.tm.bip.protocol;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The memory of a ring, with room in front of it. The head of a datagram can be put before any byte of the ring, so
 * the datagram leaves in one piece, and its payload is not copied.
 *
 * <p>Threading: confined to one thread at a time.
 */
final class RingMemory {
    /** The room in front of the ring, in bytes: for a head with an acknowledgement, credits and a few small ranges. */
    static final int HEADROOM_BYTES = 256;

    private final MemorySegment whole;
    private final MemorySegment ring;
    private final ByteBuffer view;

    /** @param whole the memory of the ring, and {@link #HEADROOM_BYTES} before it */
    RingMemory(MemorySegment whole) {
        this.whole = whole;
        this.ring = whole.asSlice(HEADROOM_BYTES);
        this.view = whole.asByteBuffer();
    }

    /** The ring. */
    MemorySegment ring() {
        return ring;
    }

    /** The bytes of the ring from an index on; the buffer is the same each time. */
    ByteBuffer view(int index, int bytes) {
        int from = HEADROOM_BYTES + index;
        return view.limit(from + bytes).position(from);
    }

    /**
     * Puts the head of a datagram before the bytes from an index on, and what it displaces elsewhere.
     *
     * @return head and bytes in one piece; the buffer is that of {@link #view}
     */
    ByteBuffer gather(MemorySegment head, int headBytes, int index, int bytes, MemorySegment displaced) {
        int from = HEADROOM_BYTES + index - headBytes;
        Blocks.copy(whole, from, displaced, 0, headBytes);
        Blocks.copy(head, 0, whole, from, headBytes);
        return view.limit(from + headBytes + bytes).position(from);
    }

    /** Puts back what {@link #gather} has displaced. */
    void restore(MemorySegment displaced, int headBytes, int index) {
        Blocks.copy(displaced, 0, whole, HEADROOM_BYTES + index - headBytes, headBytes);
    }
}
