package io.madeleine.bmm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Memory for the copies of {@link Staging}, in pieces that many connections share. A message holds pieces from its
 * first copy to its end; a connection without a message holds none. So memory grows with the number of messages in
 * progress, not with the number of connections. A piece has {@link #PIECE_BYTES} times a power of two. A few pieces of
 * each size are kept for later messages; the garbage collector takes the surplus and pieces larger than
 * {@link #MAX_KEPT_PIECE_BYTES}.
 *
 * <p>Threading: thread-safe, without a lock.
 */
public final class StagingPool {
    /** The smallest size of a piece in bytes. */
    public static final int PIECE_BYTES = 64 * 1024;

    /** The largest number of unused pieces of the smallest size that are kept. */
    public static final int MAX_KEPT = 16;

    /** The largest size of a piece that is kept, in bytes. */
    public static final int MAX_KEPT_PIECE_BYTES = 4 * 1024 * 1024;

    private static final int MAX_KEPT_LARGE = 2;
    private static final int SIZES = Integer.numberOfTrailingZeros(MAX_KEPT_PIECE_BYTES / PIECE_BYTES) + 1;

    private final LongFunction<MemorySegment> memory;
    private final Shelf[] shelves = new Shelf[SIZES];
    private final AtomicInteger nextHome = new AtomicInteger();
    private final AtomicLong heldBytes = new AtomicLong();

    /**
     * Allocates a first piece in advance, so that one message at a time finds memory even when no more can be
     * allocated.
     */
    public StagingPool() {
        this(bytes -> Arena.ofAuto().allocate(bytes, Long.BYTES));
    }

    /** With memory from elsewhere. */
    StagingPool(LongFunction<MemorySegment> memory) {
        this.memory = memory;
        for (int i = 0; i < SIZES; i++) {
            shelves[i] = new Shelf(i == 0 ? MAX_KEPT : MAX_KEPT_LARGE);
        }
        for (int i = 0; i < 2; i++) { // the second round takes the kept piece: later, no call runs for the first time
            give(take(PIECE_BYTES, 0), 0);
        }
    }

    /** Unused pieces of one size. */
    private static final class Shelf {
        final AtomicReferenceArray<@Nullable MemorySegment> kept;
        final int mask;

        Shelf(int places) {
            kept = new AtomicReferenceArray<>(places);
            mask = places - 1;
        }

        @Nullable
        MemorySegment take(int home) {
            for (int i = 0; i <= mask; i++) {
                int place = home + i & mask;
                if (kept.get(place) != null) {
                    MemorySegment piece = kept.getAndSet(place, null);
                    if (piece != null) {
                        return piece;
                    }
                }
            }
            return null;
        }

        boolean give(MemorySegment piece, int home) {
            for (int i = 0; i <= mask; i++) {
                if (kept.compareAndSet(home + i & mask, null, piece)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** The size of all pieces, used and kept, in bytes. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** Returns the position where a {@link Staging} begins its search, so that two rarely collide. */
    int newHome() {
        return nextHome.getAndIncrement() & MAX_KEPT - 1;
    }

    /**
     * Takes a piece of at least this size, with arbitrary content, aligned to 8 bytes; it is the caller's until
     * {@link #give}.
     */
    MemorySegment take(long bytes, int home) {
        int size = sizeOf(bytes);
        if (size < SIZES) {
            MemorySegment piece = shelves[size].take(home);
            if (piece != null) {
                return piece;
            }
        }
        long pieceBytes = size < SIZES ? (long) PIECE_BYTES << size : bytes;
        MemorySegment piece = memory.apply(pieceBytes);
        heldBytes.addAndGet(pieceBytes);
        return piece;
    }

    /** Takes a piece back; the caller must not access it any more. */
    void give(MemorySegment piece, int home) {
        long bytes = piece.byteSize();
        int size = sizeOf(bytes);
        if (size >= SIZES || !shelves[size].give(piece, home)) {
            heldBytes.addAndGet(-bytes);
        }
    }

    /** The exponent n of the smallest piece, {@code PIECE_BYTES << n}, that has room for this many bytes. */
    private static int sizeOf(long bytes) {
        return bytes <= PIECE_BYTES ? 0 : Long.SIZE - Long.numberOfLeadingZeros((bytes - 1) / PIECE_BYTES);
    }
}
