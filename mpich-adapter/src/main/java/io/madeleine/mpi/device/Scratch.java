package io.madeleine.mpi.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Memory for what collective operations keep for a moment, as what arrives until it is combined. It lies where the
 * networks access it in place, and serves one operation after the other: fresh memory would have to be cleared, and
 * collected as garbage.
 *
 * <p>Ownership: who takes a block gives it back once no transfer uses it any more; one that is not given back is left
 * to the garbage collector.
 *
 * <p>Threading: thread-safe.
 */
public final class Scratch {
    /** Beyond this, blocks that are given back are left to the garbage collector. */
    private static final long MOST_FREE_BYTES = 64 << 20;

    private final IntFunction<@Nullable ByteBuffer> source;
    private final List<Block> free = new ArrayList<>();
    private long freeBytes;

    /**
     * A block of memory with any content.
     *
     * @param segment the memory
     * @param buffer keeps the memory, which the segment does not; null if the segment does
     */
    public record Block(MemorySegment segment, @Nullable ByteBuffer buffer) {}

    /**
     * Without memory.
     *
     * @param source has memory that the networks access in place; null if there is none
     */
    public Scratch(IntFunction<@Nullable ByteBuffer> source) {
        this.source = source;
    }

    /** A block of at least this many bytes. */
    public Block take(long bytes) {
        Block kept = takeFree(bytes);
        if (kept != null) {
            return kept;
        }
        long length = blockBytes(bytes);
        ByteBuffer shared = length > Integer.MAX_VALUE ? null : source.apply((int) length);
        return shared == null
                ? new Block(Arena.ofAuto().allocate(length, 64), null)
                : new Block(MemorySegment.ofBuffer(shared), shared);
    }

    /** The shortest free block that is long enough, and not four times as long. */
    private synchronized @Nullable Block takeFree(long bytes) {
        int best = -1;
        long bestBytes = 4 * blockBytes(bytes);
        for (int i = 0; i < free.size(); i++) {
            long length = free.get(i).segment.byteSize();
            if (length >= bytes && length < bestBytes) {
                best = i;
                bestBytes = length;
            }
        }
        if (best < 0) {
            return null;
        }
        freeBytes -= bestBytes;
        Block last = free.removeLast();
        return best == free.size() ? last : free.set(best, last);
    }

    /** Gives a block back; nobody uses its memory any more. */
    public synchronized void give(Block block) {
        long bytes = block.segment.byteSize();
        if (freeBytes + bytes <= MOST_FREE_BYTES) {
            freeBytes += bytes;
            free.add(block);
        }
    }

    /** Rounds up to a power of two, so that few blocks serve all lengths. */
    private static long blockBytes(long bytes) {
        return bytes <= 1 ? 1 : 2 * Long.highestOneBit(bytes - 1);
    }
}
