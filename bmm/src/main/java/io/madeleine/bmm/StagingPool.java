package io.madeleine.bmm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Memory for the copies of {@link Staging}, in pieces, shared by many connections: a message has its pieces from its first copy to
 * its end, and a connection without a message has none. So memory grows with the messages under way, not with the connections.
 * Pieces have {@link #PIECE_BYTES}, or that times a power of two. A few of each size are kept for later messages, those above, and
 * those larger than {@link #MAX_KEPT_PIECE_BYTES}, are left to the garbage collector.
 *
 * <p>Threading: thread-safe, without a lock.
 */
public final class StagingPool {
    /** The smallest size of a piece. */
    public static final int PIECE_BYTES = 64 * 1024;

    /** How many pieces of the smallest size that nobody uses are kept at most. */
    public static final int MAX_KEPT = 16;

    /** The largest piece that is kept. */
    public static final int MAX_KEPT_PIECE_BYTES = 4 * 1024 * 1024;

    private static final int MAX_KEPT_LARGE = 2;
    private static final int SIZES = Integer.numberOfTrailingZeros(MAX_KEPT_PIECE_BYTES / PIECE_BYTES) + 1;

    private final Shelf[] shelves = new Shelf[SIZES];
    private final AtomicInteger nextHome = new AtomicInteger();
    private final AtomicLong heldBytes = new AtomicLong();

    /** Takes a first piece, so that one message at a time finds memory also when there is no more to be had later. */
    public StagingPool() {
        for (int i = 0; i < SIZES; i++) {
            shelves[i] = new Shelf(i == 0 ? MAX_KEPT : MAX_KEPT_LARGE);
        }
        for (int i = 0; i < 2; i++) { // the second time, the one that is kept: no call is later made for the first time
            give(take(PIECE_BYTES, 0), 0);
        }
    }

    /** Pieces of one size that nobody uses. */
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

    /** Bytes in all pieces, those of messages and those that are kept. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** Where a {@link Staging} begins to look, so that two seldom meet. */
    int newHome() {
        return nextHome.getAndIncrement() & MAX_KEPT - 1;
    }

    /** A piece of that many bytes or more, with any contents, aligned to 8 bytes; it is the caller's until it is given back. */
    MemorySegment take(long bytes, int home) {
        int size = sizeOf(bytes);
        if (size < SIZES) {
            MemorySegment piece = shelves[size].take(home);
            if (piece != null) {
                return piece;
            }
        }
        long pieceBytes = size < SIZES ? (long) PIECE_BYTES << size : bytes;
        MemorySegment piece = Arena.ofAuto().allocate(pieceBytes, Long.BYTES);
        heldBytes.addAndGet(pieceBytes);
        return piece;
    }

    /** Takes a piece back, which its caller does not touch any more. */
    void give(MemorySegment piece, int home) {
        long bytes = piece.byteSize();
        int size = sizeOf(bytes);
        if (size >= SIZES || !shelves[size].give(piece, home)) {
            heldBytes.addAndGet(-bytes);
        }
    }

    /** By which power of two a piece with room for that many bytes is larger than the smallest. */
    private static int sizeOf(long bytes) {
        return bytes <= PIECE_BYTES ? 0 : Long.SIZE - Long.numberOfLeadingZeros((bytes - 1) / PIECE_BYTES);
    }
}
