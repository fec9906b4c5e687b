package io.madeleine.mpi.datatypes;

import io.madeleine.api.SessionException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Direct buffers in memory of the session, which the networks access in place. The block of a buffer that has become
 * unreachable serves the next buffer of its size, so a program may make any number of buffers, one after the other. The
 * pool takes a bounded amount of memory. It lets go of blocks that have served no buffer for a minute, and of others
 * when it needs their room for a buffer of another size; the garbage collector then frees them.
 *
 * <p>Ownership: whoever moves the bytes of a buffer keeps the buffer reachable meanwhile; its segment does not.
 *
 * <p>Threading: thread-safe.
 */
public final class BufferPool {
    /** Shorter buffers gain nothing: networks copy short blocks in any case. */
    public static final int LEAST_BYTES = 8 << 10;

    private static final long MOST_IDLE_NS = TimeUnit.MINUTES.toNanos(1);

    private final LongFunction<MemorySegment> source;
    private final LongSupplier clockNs;
    private long leftBytes;

    /** The blocks of each length that no buffer uses; the one that was used last is in front. */
    private final Map<Long, Deque<Unused>> free = new HashMap<>();

    private final ReferenceQueue<ByteBuffer> unreachable = new ReferenceQueue<>();

    /** The blocks in use; a reference that is not reachable itself is never queued. */
    private final Set<Lease> leases = new HashSet<>();

    private record Unused(MemorySegment block, long sinceNs) {}

    private static final class Lease extends PhantomReference<ByteBuffer> {
        private final MemorySegment block;

        Lease(ByteBuffer buffer, MemorySegment block, ReferenceQueue<ByteBuffer> queue) {
            super(buffer, queue);
            this.block = block;
        }
    }

    /**
     * An empty pool.
     *
     * @param source allocates zeroed memory that lasts as long as it is reachable; throws {@link SessionException} once
     *     there is no more
     * @param mostBytes how much to take from it
     */
    public BufferPool(LongFunction<MemorySegment> source, long mostBytes) {
        this(source, mostBytes, System::nanoTime);
    }

    BufferPool(LongFunction<MemorySegment> source, long mostBytes, LongSupplier clockNs) {
        this.source = source;
        this.clockNs = clockNs;
        this.leftBytes = mostBytes;
    }

    /** A zeroed buffer of this length in big-endian order; null if the pool has none, as for short ones. */
    public synchronized @Nullable ByteBuffer take(int bytes) {
        if (bytes < LEAST_BYTES) {
            return null;
        }
        long nowNs = clockNs.getAsLong();
        reclaim(nowNs);
        long blockBytes = blockBytes(bytes);
        Deque<Unused> same = free.get(blockBytes);
        Unused unused = same == null ? null : same.poll();
        letGo(each -> nowNs - each.sinceNs > MOST_IDLE_NS);
        MemorySegment block = unused == null ? null : unused.block;
        if (block != null) {
            block.asSlice(0, bytes).fill((byte) 0);
        } else {
            block = fresh(blockBytes);
        }
        if (block == null) {
            return null;
        }
        ByteBuffer buffer = block.asSlice(0, bytes).asByteBuffer();
        leases.add(new Lease(buffer, block, unreachable));
        return buffer;
    }

    private @Nullable MemorySegment fresh(long blockBytes) {
        letGo(_ -> blockBytes > leftBytes);
        if (blockBytes > leftBytes) {
            return null;
        }
        try {
            MemorySegment block = source.apply(blockBytes);
            leftBytes -= blockBytes;
            return block;
        } catch (SessionException _) {
            leftBytes = 0; // the session is being closed
            return null;
        }
    }

    /** Lets go of the blocks of each length for which this holds, from the one on that was used first. */
    private void letGo(Predicate<Unused> wanted) {
        for (Deque<Unused> blocks : free.values()) {
            while (!blocks.isEmpty() && wanted.test(blocks.getLast())) {
                leftBytes += blocks.removeLast().block.byteSize();
            }
        }
    }

    private void reclaim(long nowNs) {
        while (unreachable.poll() instanceof Lease lease) {
            leases.remove(lease);
            free.computeIfAbsent(lease.block.byteSize(), _ -> new ArrayDeque<>())
                    .push(new Unused(lease.block, nowNs));
        }
    }

    /** Rounds up to one of four lengths between two powers of two, so that few lengths serve all buffers. */
    static long blockBytes(int bytes) {
        long quarter = Math.max(1, Long.highestOneBit(bytes) / 4);
        return (bytes + quarter - 1) / quarter * quarter;
    }
}
