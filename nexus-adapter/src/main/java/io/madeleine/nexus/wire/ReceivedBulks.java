package io.madeleine.nexus.wire;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The large arguments of a request that were received before its handler runs. Their memory goes back to {@link
 * ArgumentMemory} when they have been taken.
 *
 * <p>Threading: confined to one thread at a time.
 */
public final class ReceivedBulks implements BulkSource {
    private final ArgumentMemory memory;
    private final Deque<ArgumentMemory.Block> blocks = new ArrayDeque<>();
    private long reservedBytes;

    public ReceivedBulks(ArgumentMemory memory) {
        this.memory = memory;
    }

    /** Begins a request for which this many bytes have been reserved. */
    public void begin(long bytes) {
        reservedBytes = bytes;
    }

    /** Allocates memory for the next argument. */
    public MemorySegment add(long bytes) {
        ArgumentMemory.Block block = memory.take(bytes);
        try {
            blocks.add(block);
        } catch (Throwable e) { // out of memory
            memory.giveBack(block);
            throw e;
        }
        return block.memory();
    }

    @Override
    public void take(MemorySegment target, long offset, long bytes) {
        ArgumentMemory.Block block = blocks.peek();
        if (block == null) {
            throw new IllegalStateException("the request is over: its handler has returned");
        }
        MemorySegment.copy(block.memory(), 0, target, offset, bytes);
        memory.giveBack(blocks.remove());
    }

    @Override
    public void close() {
        for (ArgumentMemory.Block block = blocks.poll(); block != null; block = blocks.poll()) {
            memory.giveBack(block);
        }
        memory.release(reservedBytes);
        reservedBytes = 0;
    }

    @Override
    public ReceivedBulks detach() {
        ReceivedBulks detached = new ReceivedBulks(memory);
        detached.blocks.addAll(blocks);
        detached.reservedBytes = reservedBytes;
        blocks.clear();
        reservedBytes = 0;
        return detached;
    }
}
