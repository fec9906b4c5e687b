package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A pipe of static buffers.
 *
 * <p>Threading: as {@link LoopPipe}.
 */
final class LoopSlots extends LoopPipe {
    private static final byte GARBAGE = (byte) 0xEE;

    private final int slotCount;
    private final int slotBytes;
    private final MemorySegment memory;
    private final long[] headers;
    private long takenBytes;

    LoopSlots(LoopTm sender, LoopTm receiver) {
        super(receiver);
        slotCount = sender.slotCount();
        slotBytes = sender.capabilities().bufferBytes();
        memory = Arena.ofAuto().allocate((long) slotCount * slotBytes, Long.BYTES);
        headers = new long[slotCount];
    }

    MemorySegment memory() {
        return memory;
    }

    private long offset(long index) {
        return index % slotCount * slotBytes;
    }

    /** The offset of the next free slot, or -1. */
    long claim() {
        if (!hasRoom()) {
            return -1;
        }
        long offset = offset(produced);
        memory.asSlice(offset, Math.min(slotBytes, Long.BYTES)).fill(GARBAGE);
        return offset;
    }

    void commit(long header) {
        long index = produced;
        headers[(int) (index % slotCount)] = header;
        produced = index + 1;
    }

    @Override
    boolean hasRoom() {
        return produced - consumed < slotCount;
    }

    @Override
    long front() {
        long index = consumed;
        return index < limit() ? headers[(int) (index % slotCount)] : 0;
    }

    @Override
    long receive(BufferGroup group, long maxBytes) {
        long before = group.remainingBytes();
        try {
            return group.fillFrom(memory, offset(consumed) + takenBytes, Math.min(maxBytes, deliverBytes));
        } finally {
            takenBytes += before - group.remainingBytes(); // also if memory was freed
        }
    }

    @Override
    long skip(long maxBytes) {
        long bytes = Math.min(maxBytes, deliverBytes);
        takenBytes += bytes;
        return bytes;
    }

    @Override
    void release() {
        takenBytes = 0;
        consumed = consumed + 1;
    }
}
