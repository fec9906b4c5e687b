package io.madeleine.nexus.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Memory for large arguments that are received before their handler runs: bounded, and pooled for small blocks. A
 * request with up to {@link #FREE_BYTES} always finds room.
 *
 * <p>Threading: thread-safe.
 */
public final class ArgumentMemory {
    /** A request with up to this many bytes does not count towards the bound. */
    public static final long FREE_BYTES = 1 << 20;

    /** Larger blocks are freed, not pooled. */
    private static final long LARGEST_KEPT = 1 << 20;

    private static final long KEPT_BYTES = 16 << 20;
    private static final int LEAST_LOG = 63 - Long.numberOfLeadingZeros(RequestLayout.BULK_BYTES);
    private static final long ALIGNMENT = 64;

    /** One request may take this fraction of the bound, so that a single one does not keep out all others. */
    private static final int PARTS = 4;

    private final long maxBytes;
    private final AtomicLong reserved = new AtomicLong();
    private final List<Deque<Block>> kept = new ArrayList<>();
    private long keptBytes;

    /**
     * Memory for one argument, at least as long as the argument.
     *
     * <p>Ownership: the thread that took it gives it back.
     *
     * @param arena non-null if the memory is freed when it is given back
     */
    public record Block(MemorySegment memory, @Nullable Arena arena) {}

    public ArgumentMemory(long maxBytes) {
        this.maxBytes = maxBytes;
        for (long bytes = RequestLayout.BULK_BYTES; bytes <= LARGEST_KEPT; bytes *= 2) {
            kept.add(new ArrayDeque<>());
        }
    }

    /**
     * Reserves room for a request with that many bytes; false if there is none. After true, {@link #release} must
     * follow.
     */
    public boolean tryReserve(long bytes) {
        return tryGrow(0, bytes);
    }

    /** Enlarges a reservation from {@code reservedBefore} to {@code bytes}; false if there is no room. */
    public boolean tryGrow(long reservedBefore, long bytes) {
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

    /** Releases the whole reservation of a request. */
    public void release(long bytes) {
        if (bytes > FREE_BYTES) {
            reserved.addAndGet(-bytes);
        }
    }

    /** Takes a block of at least that size; its room must be reserved. */
    public Block take(long bytes) {
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

    public void giveBack(Block block) {
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
