package io.madeleine.bmm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Memory for the copies of {@link Staging}, in pieces of one size, shared by many connections: a message has a piece from its
 * first copy to its end, and a connection without a message has none. So memory grows with the messages under way, not with
 * the connections. A few pieces are kept for later messages, those above are left to the garbage collector.
 *
 * <p>Threading: thread-safe, without a lock.
 */
public final class StagingPool {
    /** The size of a piece. */
    public static final int PIECE_BYTES = 64 * 1024;

    /** How many pieces that nobody uses are kept at most. */
    public static final int MAX_KEPT = 16;

    private final AtomicReferenceArray<@Nullable MemorySegment> kept = new AtomicReferenceArray<>(MAX_KEPT);
    private final AtomicInteger nextHome = new AtomicInteger();
    private final AtomicInteger pieces = new AtomicInteger();

    /** Takes a first piece, so that one message at a time finds memory also when there is no more to be had later. */
    public StagingPool() {
        for (int i = 0; i < 2; i++) { // the second time, the one that is kept: no call is later made for the first time
            give(take(0), 0);
        }
    }

    /** Bytes in all pieces, those of messages and those that are kept. */
    public long heldBytes() {
        return (long) pieces.get() * PIECE_BYTES;
    }

    /** Where a {@link Staging} begins to look, so that two seldom meet. */
    int newHome() {
        return nextHome.getAndIncrement() & MAX_KEPT - 1;
    }

    /** A piece with any contents, aligned to 8 bytes; it is the caller's until it is given back. */
    MemorySegment take(int home) {
        for (int i = 0; i < MAX_KEPT; i++) {
            int place = home + i & MAX_KEPT - 1;
            if (kept.get(place) != null) {
                MemorySegment piece = kept.getAndSet(place, null);
                if (piece != null) {
                    return piece;
                }
            }
        }
        MemorySegment piece = Arena.ofAuto().allocate(PIECE_BYTES, Long.BYTES);
        pieces.incrementAndGet();
        return piece;
    }

    /** Takes a piece back, which its caller does not touch any more. */
    void give(MemorySegment piece, int home) {
        for (int i = 0; i < MAX_KEPT; i++) {
            if (kept.compareAndSet(home + i & MAX_KEPT - 1, null, piece)) {
                return;
            }
        }
        pieces.decrementAndGet();
    }
}
