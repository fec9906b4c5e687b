package io.madeleine.mpi.datatypes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Buffers in a bounded amount of memory. */
@Timeout(120)
class BufferPoolTest {
    private static final int BYTES = 1 << 20;

    private final Arena arena = Arena.ofAuto();
    private long taken;

    private BufferPool pool(long most) {
        return new BufferPool(
                bytes -> {
                    taken += bytes;
                    return arena.allocate(bytes, 64);
                },
                most);
    }

    @Test
    void shouldHaveZeroedBuffersOfTheLengthAskedForUpToItsBound() {
        BufferPool pool = pool(3 * BYTES);
        ByteBuffer one = pool.take(BYTES - 5);
        ByteBuffer two = pool.take(BYTES);
        assertNotNull(one);
        assertNotNull(two);
        assertEquals(BYTES - 5, one.capacity());
        assertEquals(0, one.get(BYTES - 6));
        assertNull(pool.take(2 * BYTES));
        assertNull(pool.take(BufferPool.LEAST_BYTES - 1));
        assertTrue(taken <= 3 * BYTES, taken + " bytes");
    }

    /** A view of a buffer keeps it, as a slice of a slice does. */
    @Test
    void shouldUseTheMemoryOfABufferAgainOnlyWhenNoViewOfItIsLeft() throws InterruptedException {
        BufferPool pool = pool(BYTES);
        ByteBuffer first = pool.take(BYTES);
        assertNotNull(first);
        LongBuffer view = first.slice(8, 64).asLongBuffer().slice(1, 2);
        first = null;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(10);
            assertNull(pool.take(BYTES));
        }
        view.put(0, 7);
        Reference.reachabilityFence(view);
        view = null;
        ByteBuffer next = null;
        while (next == null) {
            System.gc();
            Thread.sleep(10);
            next = pool.take(BYTES);
        }
        assertEquals(0, next.getLong(16), "the memory is zeroed");
    }

    /** Until the pool has taken all memory that it may, and all of it is in the pool again. */
    private void useAndDrop(BufferPool pool, int bytes) throws InterruptedException {
        ByteBuffer dropped = pool.take(bytes);
        assertNotNull(dropped);
        WeakReference<ByteBuffer> left = new WeakReference<>(dropped);
        dropped = null;
        while (!left.refersTo(null)) {
            System.gc();
            Thread.sleep(10);
        }
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> next = new WeakReference<>(new Object(), queue);
        while (queue.poll() != next) { // the references of earlier collections are queued before
            System.gc();
            Thread.sleep(10);
        }
    }

    @Test
    void shouldMakeRoomForBuffersOfOtherLengths() throws InterruptedException {
        BufferPool pool = pool(3 * BYTES);
        useAndDrop(pool, BYTES);
        useAndDrop(pool, 2 * BYTES);
        assertEquals(3 * BYTES, taken);
        ByteBuffer large = pool.take(3 * BYTES);
        assertNotNull(large, "both free blocks give their room");
        assertEquals(6 * BYTES, taken);
        assertNull(pool.take(BYTES));
        Reference.reachabilityFence(large);
    }

    @Test
    void shouldLetGoOfBlocksThatHaveBeenUnusedForAMinute() throws InterruptedException {
        long[] nowNs = {Long.MAX_VALUE - 5};
        BufferPool pool = new BufferPool(
                bytes -> {
                    taken += bytes;
                    return arena.allocate(bytes, 64);
                },
                100L * BYTES,
                () -> nowNs[0]);
        List<@Nullable ByteBuffer> inUse = new ArrayList<>();
        useAndDrop(pool, BYTES);
        inUse.add(pool.take(2 * BYTES)); // sees that the first is unused
        nowNs[0] += TimeUnit.SECONDS.toNanos(59);
        useAndDrop(pool, BYTES); // the same block
        assertEquals(3 * BYTES, taken);
        inUse.add(pool.take(2 * BYTES)); // sees that it is unused again
        assertEquals(5 * BYTES, taken);
        nowNs[0] += TimeUnit.SECONDS.toNanos(61);
        inUse.add(pool.take(4 * BYTES)); // lets go of it
        inUse.add(pool.take(BYTES));
        assertEquals(10 * BYTES, taken);
        assertEquals(4, inUse.size());
        Reference.reachabilityFence(inUse);
    }

    @Test
    void shouldHaveNoMoreMemoryOnceTheSessionIsClosed() {
        BufferPool closed = new BufferPool(
                _ -> {
                    throw new SessionException("closed");
                },
                BYTES);
        assertNull(closed.take(BYTES));
    }

    @Test
    void shouldWasteLessThanAQuarter() {
        for (int bytes = BufferPool.LEAST_BYTES; bytes < 1 << 26; bytes += bytes / 7 + 1) {
            long block = BufferPool.blockBytes(bytes);
            assertTrue(block >= bytes && block - bytes <= bytes / 4, block + " bytes for " + bytes);
        }
        assertEquals(1L << 31, BufferPool.blockBytes(Integer.MAX_VALUE));
    }
}
