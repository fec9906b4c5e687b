package io.madeleine.mpi.datatypes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SegmentCacheTest {
    /** As many low bits of the hash codes are equal as any table of the cache may use. */
    private static final int SAME_BITS = 0xFFF;

    private final SegmentCache cache = new SegmentCache();

    /** Buffers that have the same place in the cache, as chance has it for any two of a program. */
    private static List<int[]> buffersOfOnePlace(int count) {
        List<int[]> buffers = new ArrayList<>();
        buffers.add(new int[1]);
        int hash = System.identityHashCode(buffers.getFirst()) & SAME_BITS;
        while (buffers.size() < count) {
            int[] next = new int[1];
            if ((System.identityHashCode(next) & SAME_BITS) == hash) {
                buffers.add(next);
            }
        }
        return buffers;
    }

    private static MemorySegment[] segments(SegmentCache cache, List<int[]> buffers) {
        return buffers.stream().map(cache::memory).toArray(MemorySegment[]::new);
    }

    @Test
    void shouldKeepTheSegmentsOfBuffersWithTheSamePlace() {
        List<int[]> buffers = buffersOfOnePlace(SegmentCache.WAYS);
        MemorySegment[] first = segments(cache, buffers);
        MemorySegment[] again = segments(cache, buffers);
        for (int i = 0; i < first.length; i++) {
            assertSame(first[i], again[i], "the segment of buffer " + i);
        }
    }

    @Test
    void shouldFindTheMemoryOfMoreBuffersThanItKeeps() {
        List<int[]> buffers = buffersOfOnePlace(SegmentCache.WAYS + 3);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < buffers.size(); i++) {
                buffers.get(i)[0] = 100 * round + i;
                assertEquals(100 * round + i, cache.memory(buffers.get(i)).get(ValueLayout.JAVA_INT, 0));
            }
        }
    }

    @Test
    void shouldFindTheMemoryOfADirectBufferFromItsElementZero() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(16);
        buffer.put(0, (byte) 7).position(4);
        assertEquals(16, cache.memory(buffer).byteSize());
        assertEquals(7, cache.memory(buffer).get(ValueLayout.JAVA_BYTE, 0));
    }
}
