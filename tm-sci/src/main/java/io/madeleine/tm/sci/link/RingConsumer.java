package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The receiving end of a ring. It returns space to the sender in batches of an eighth of the ring.
 *
 * <p>Threading: single-writer (the holder of the receive lock); {@link #isReadable()} and {@link #mayBeReadable()} any
 * thread.
 */
final class RingConsumer {
    /** Returned by {@link #front()} if the sender broke the format. */
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

    private long position; // Other threads read it through POSITION.
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

    /** Returns the header in front, 0 if there is none, or {@link #BROKEN}. */
    long front() {
        if (front != 0) {
            return front;
        }
        long header = OrderedWords.acquire(memory, layout.headerOffset(position));
        if (header == 0) {
            return 0;
        }
        if (!PacketHeader.isValid(header) || PacketHeader.payloadBytes(header) > layout.bufferBytes()) {
            return BROKEN;
        }
        front = header;
        return header;
    }

    /** The word in front, unchecked, for error messages. */
    long rawFront() {
        return OrderedWords.acquire(memory, layout.headerOffset(position));
    }

    /** Moves payload of the record in front into the group. If this throws, the group knows how much was moved. */
    long receive(BufferGroup group, long maxBytes) {
        long bytes = Math.min(maxBytes, PacketHeader.payloadBytes(front) - takenBytes);
        long before = group.remainingBytes();
        try {
            return group.fillFrom(memory, layout.headerOffset(position) + Long.BYTES + takenBytes, bytes);
        } finally {
            takenBytes += (int) (before - group.remainingBytes()); // also if the group's memory has been freed
        }
    }

    /** Moves payload of the record in front into a block; it is known to be there. */
    void receiveWhole(MemorySegment block, long offset, long bytes) {
        Blocks.copy(memory, layout.headerOffset(position) + Long.BYTES + takenBytes, block, offset, bytes);
        takenBytes += (int) bytes;
    }

    /**
     * Copies the record in front into a block if it has this header and nothing has been taken of it. {@link #release}
     * follows.
     *
     * @return whether the record has this header
     * @throws IllegalStateException if the block's memory has been freed; nothing is taken then
     */
    boolean take(long header, MemorySegment block, long offset) {
        long headerOffset = headerOffset(position);
        if (OrderedWords.acquire(memory, headerOffset) != header || PacketHeader.payloadBytes(header) > bufferBytes) {
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
     * Releases the record in front.
     *
     * @param tells whether to publish the position even if this does not return space, so that the sender sees at once
     *     that the record was read
     * @return whether space was returned to the sender
     */
    boolean release(boolean tells) {
        long next = RingLayout.next(position, PacketHeader.payloadBytes(front), lapMask);
        front = 0;
        takenBytes = 0;
        POSITION.setRelease(this, next);
        if (next - returnedPosition < batchBytes) {
            if (tells) {
                OrderedWords.setRelease(memory, consumerOffset, next);
            }
            return false;
        }
        returnedPosition = next;
        OrderedWords.setRelease(memory, consumerOffset, next);
        return true;
    }

    /** As {@link #isReadable()}, but may also miss a record while another thread releases one. */
    boolean mayBeReadable() {
        return OrderedWords.acquire(memory, headerOffset((long) POSITION.getAcquire(this))) != 0;
    }

    /**
     * Whether there is a record in front. While another thread releases a record this may be wrongly true, but never
     * wrongly false.
     */
    boolean isReadable() {
        while (true) {
            long here = (long) POSITION.getAcquire(this);
            if (OrderedWords.acquire(memory, layout.headerOffset(here)) != 0) {
                return true;
            }
            if (here == (long) POSITION.getAcquire(this)) {
                return false;
            }
        }
    }
}
