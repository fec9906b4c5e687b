package io.madeleine.mpi.datatypes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
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
