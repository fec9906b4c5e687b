package io.madeleine.tm.via.link;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.tm.via.ffi.WriteMessage;
import io.madeleine.tm.via.port.MessageFlyweight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Tells the receiver which pieces have landed, where the provider has no immediate data: a message follows when the
 * writes have completed, which the provider says when the receiver can see them.
 *
 * <p>Threading: {@link #set} belongs to the sending half, the rest to the thread that polls.
 */
final class LandedPieces {
    private final ViaConnection connection;
    private final Lane lane;
    private final int[] immediates;
    private final int[] waiting;
    private final SpinLock lock = new SpinLock();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment scratch = arena.allocate(WriteMessage.BYTES, Long.BYTES);
    private int count;

    LandedPieces(ViaConnection connection, Lane lane, int writes) {
        this.connection = connection;
        this.lane = lane;
        this.immediates = new int[writes];
        this.waiting = new int[GrantFlyweight.PIECES];
    }

    /** The address of memory for the arguments of a write. */
    long scratch() {
        return scratch.address();
    }

    /** The immediate data of a write that is about to begin. */
    void set(int operation, int immediate) {
        immediates[operation] = immediate;
    }

    /** A write has completed. */
    void add(int operation) {
        lock.lock();
        try {
            waiting[count++] = immediates[operation];
        } finally {
            lock.unlock();
        }
        boolean _ = flush();
    }

    /** Sends what waits, unless the last message has not left yet; returns whether nothing is left. */
    boolean flush() {
        lock.lock();
        try {
            if (count > 0 && lane.isFree(LaneSlots.LANDED)) {
                MemorySegment memory = lane.memory(LaneSlots.LANDED);
                long at = lane.offset(LaneSlots.LANDED) + MessageFlyweight.BYTES;
                for (int i = 0; i < count; i++) {
                    memory.set(Blocks.INT, at + (long) i * Integer.BYTES, waiting[i]);
                }
                connection.address(LaneSlots.LANDED, MessageFlyweight.LANDED, count);
                lane.send(LaneSlots.LANDED, MessageFlyweight.BYTES + count * Integer.BYTES);
                count = 0;
            }
            if (count > 0) {
                connection.behind();
            }
            return count == 0;
        } finally {
            lock.unlock();
        }
    }

    void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
