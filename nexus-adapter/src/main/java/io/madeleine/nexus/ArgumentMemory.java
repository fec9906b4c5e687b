package io.madeleine.nexus;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Memory for large arguments that are received before their handler runs: bounded, and the smaller blocks serve again and again.
 * What a sender sends at once up to {@link #FREE_BYTES} always finds room.
 *
 * <p>Threading: thread-safe.
 */
final class ArgumentMemory {
    /** What one request may have without counting for the bound. */
    static final long FREE_BYTES = 1 << 20;

    /** Larger blocks are not kept. */
    private static final long LARGEST_KEPT = 1 << 20;

    private static final long KEPT_BYTES = 16 << 20;
    private static final int LEAST_LOG = 63 - Long.numberOfLeadingZeros(Wire.BULK_BYTES);
    private static final long ALIGNMENT = 64;

    /** One request may take such a part of the bound, so that one alone does not keep out all others. */
    private static final int PARTS = 4;

    private final long maxBytes;
    private final AtomicLong reserved = new AtomicLong();
    private final List<Deque<Block>> kept = new ArrayList<>();
    private long keptBytes;

    /**
     * Memory for one argument, of at least its size. Ownership: whoever took it gives it back.
     *
     * @param arena if it is to be freed when it is given back
     */
    record Block(MemorySegment memory, @Nullable Arena arena) {}

    ArgumentMemory(long maxBytes) {
        this.maxBytes = maxBytes;
        for (long bytes = Wire.BULK_BYTES; bytes <= LARGEST_KEPT; bytes *= 2) {
            kept.add(new ArrayDeque<>());
        }
    }

    /** Whether there is room for a request with that many bytes; {@link #release} follows. */
    boolean tryReserve(long bytes) {
        return tryGrow(0, bytes);
    }

    /** Whether there is room for a request to have that many bytes, for which fewer are reserved already. */
    boolean tryGrow(long reservedBefore, long bytes) {
        if (bytes <= FREE_BYTES) {
            return true;
        }
        if (bytes > maxBytes / PARTS) {
            return false;
        }
        long more = bytes - (reservedBefore <= FREE_BYTES ? 0 : reservedBefore);
        if (reserved.addAndGet(more) > maxBytes) {
            reserved.addAndGet(-more);
            return false;
        }
        return true;
    }

    /** As many are not needed any more, all that the request had. */
    void release(long bytes) {
        if (bytes > FREE_BYTES) {
            reserved.addAndGet(-bytes);
        }
    }

    /** A block of at least that size, for which there is room. */
    Block take(long bytes) {
        if (bytes > LARGEST_KEPT) {
            Arena arena = Arena.ofShared();
            return new Block(arena.allocate(bytes, ALIGNMENT), arena);
        }
        int log = Long.SIZE - Long.numberOfLeadingZeros(bytes - 1);
        synchronized (kept) {
            Block block = kept.get(log - LEAST_LOG).poll();
            if (block != null) {
                keptBytes -= block.memory().byteSize();
                return block;
            }
        }
        return new Block(Arena.ofAuto().allocate(1L << log, ALIGNMENT), null);
    }

    void giveBack(Block block) {
        Arena arena = block.arena();
        if (arena != null) {
            arena.close();
            return;
        }
        long bytes = block.memory().byteSize();
        synchronized (kept) {
            if (keptBytes + bytes <= KEPT_BYTES) {
                keptBytes += bytes;
                kept.get(Long.numberOfTrailingZeros(bytes) - LEAST_LOG).push(block);
            }
        }
    }
}
