package io.madeleine.tm.via.link;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.tm.via.ffi.WriteMessage;
import io.madeleine.tm.via.port.MessageFlyweight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Tells the receiver which pieces have landed, where the provider has no immediate data. A write completes when the
 * receiver can see its data. When all writes of a piece have completed, a message names the piece, once. So there are
 * no more messages than pieces.
 *
 * <p>Threading: {@link #begin} and {@link #notBegun} belong to the sending half, the rest to the thread that polls.
 */
final class LandedPieces {
    /** The most pieces that one message names: more than the peer's grants and packets can have. */
    static final int MOST = 256;

    private final ViaConnection connection;
    private final Lane lane;

    /** The piece of each operation, modulo the number of operations: writes of no more pieces are under way. */
    private final int[] pieces;

    /** What the immediate data of each piece would be. */
    private final int[] immediates;

    /** How many writes of each piece are under way. */
    private final int[] writes;

    /** Whether more parts of each piece follow. */
    private final boolean[] moreFollow;

    private final int[] waiting = new int[MOST];
    private final SpinLock lock = new SpinLock();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment scratch = arena.allocate(WriteMessage.BYTES, Long.BYTES);
    private int count;

    LandedPieces(ViaConnection connection, Lane lane, int operations) {
        this.connection = connection;
        this.lane = lane;
        this.pieces = new int[operations];
        this.immediates = new int[operations];
        this.writes = new int[operations];
        this.moreFollow = new boolean[operations];
    }

    /** The address of memory for the arguments of a write. */
    long scratch() {
        return scratch.address();
    }

    /**
     * A write is about to begin.
     *
     * @param number the number of its piece since the connection began
     * @param immediate what the immediate data of the piece would be
     * @param more whether more parts of the piece follow
     */
    void begin(int operation, int number, int immediate, boolean more) {
        lock.lock();
        try {
            int piece = Math.floorMod(number, pieces.length);
            pieces[operation] = piece;
            immediates[piece] = immediate;
            writes[piece]++;
            moreFollow[piece] = more;
        } finally {
            lock.unlock();
        }
    }

    /** A write has not begun after all. */
    void notBegun(int operation) {
        lock.lock();
        try {
            int piece = pieces[operation];
            writes[piece]--;
            moreFollow[piece] = true; // at least this part
        } finally {
            lock.unlock();
        }
    }

    /** A write has completed. */
    void completed(int operation) {
        lock.lock();
        try {
            int piece = pieces[operation];
            if (--writes[piece] == 0 && !moreFollow[piece]) {
                waiting[count++] = immediates[piece];
            }
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
