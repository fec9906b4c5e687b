package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The receiving end of a ring. Space is handed back in batches, an eighth of the ring at a time.
 *
 * <p>Threading: single-writer (whoever holds the receive lock); {@link #hasNews()} any thread.
 */
final class RingConsumer {
    /** What {@link #front()} answers when the sender broke the format. */
    static final long BROKEN = Long.MIN_VALUE;

    private static final int BATCHES_PER_RING = 8;
    private static final VarHandle POSITION = positionHandle();

    private final MemorySegment memory;
    private final RingLayout layout;
    private final int batchBytes;
    private final int bufferBytes;
    private final long consumerOffset;
    private final long dataOffset;
    private final long lapMask;

    private long position; // others read it through POSITION
    private long returnedPosition;
    private long front;
    private int takenBytes;

    RingConsumer(MemorySegment memory, RingLayout layout) {
        this.memory = memory;
        this.layout = layout;
        this.bufferBytes = layout.bufferBytes();
        this.consumerOffset = layout.consumerOffset();
        this.dataOffset = layout.dataOffset();
        this.lapMask = layout.ringBytes() - 1L;
        this.batchBytes = RingLayout.CACHES_POSITIONS ? layout.ringBytes() / BATCHES_PER_RING : 0;
    }

    private static VarHandle positionHandle() {
        try {
            return MethodHandles.lookup()
                    .findVarHandle(RingConsumer.class, "position", long.class)
                    .withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The header in front, 0 if there is none, or {@link #BROKEN}. */
    long front() {
        if (front != 0) {
            return front;
        }
        long header = Words.acquire(memory, layout.headerOffset(position));
        if (header == 0) {
            return 0;
        }
        if (!PacketHeader.isValid(header) || PacketHeader.payloadBytes(header) > layout.bufferBytes()) {
            return BROKEN;
        }
        front = header;
        return header;
    }

    /** What lies in front, unchecked, for error messages. */
    long rawFront() {
        return Words.acquire(memory, layout.headerOffset(position));
    }

    /** Moves payload into the group; of a call that throws, the group says how much was taken. */
    long receive(BufferGroup group, long maxBytes) {
        long bytes = Math.min(maxBytes, PacketHeader.payloadBytes(front) - takenBytes);
        long before = group.remainingBytes();
        try {
            return group.fillFrom(memory, layout.headerOffset(position) + Long.BYTES + takenBytes, bytes);
        } finally {
            takenBytes += (int) (before - group.remainingBytes()); // also if memory turns out to be freed
        }
    }

    /** Moves payload, which is there, into a block. */
    void receiveWhole(MemorySegment block, long offset, long bytes) {
        Blocks.copy(memory, layout.headerOffset(position) + Long.BYTES + takenBytes, block, offset, bytes);
        takenBytes += (int) bytes;
    }

    /**
     * Takes the record in front, of which nothing has been taken, if it has that header; returns whether it does. If the block's memory
     * is gone, nothing is taken. {@link #release} follows.
     */
    boolean take(long header, MemorySegment block, long offset) {
        long headerOffset = headerOffset(position);
        if (Words.acquire(memory, headerOffset) != header || PacketHeader.payloadBytes(header) > bufferBytes) {
            return false;
        }
        Blocks.copy(memory, headerOffset + Long.BYTES, block, offset, PacketHeader.payloadBytes(header));
        front = header;
        return true;
    }

    private long headerOffset(long at) {
        return dataOffset + (at & lapMask);
    }

    long skip(long maxBytes) {
        long bytes = Math.min(maxBytes, PacketHeader.payloadBytes(front) - takenBytes);
        takenBytes += (int) bytes;
        return bytes;
    }

    /**
     * Lets go of the record in front.
     *
     * @param tells whether the sender can see at once that it was read, though space is not handed back for that
     * @return whether space was handed back to the sender
     */
    boolean release(boolean tells) {
        long next = RingLayout.next(position, PacketHeader.payloadBytes(front), lapMask);
        front = 0;
        takenBytes = 0;
        POSITION.setRelease(this, next);
        if (next - returnedPosition < batchBytes) {
            if (tells) {
                Words.setRelease(memory, consumerOffset, next);
            }
            return false;
        }
        returnedPosition = next;
        Words.setRelease(memory, consumerOffset, next);
        return true;
    }

    /** As {@link #hasNews()}, but may also say falsely not while another thread releases a record. */
    boolean mayHaveNews() {
        return Words.acquire(memory, headerOffset((long) POSITION.getAcquire(this))) != 0;
    }

    /** Whether a record lies in front. May say so falsely for a moment while another thread releases one, never not. */
    boolean hasNews() {
        while (true) {
            long here = (long) POSITION.getAcquire(this);
            if (Words.acquire(memory, layout.headerOffset(here)) != 0) {
                return true;
            }
            if (here == (long) POSITION.getAcquire(this)) {
                return false;
            }
        }
    }
}
