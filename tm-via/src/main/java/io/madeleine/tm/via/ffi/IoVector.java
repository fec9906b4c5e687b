package io.madeleine.tm.via.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A scatter/gather list for one call: ranges of memory, each with its descriptor. The call reads it before it returns.
 *
 * <p>Threading: one thread at a time. {@link #add} and {@link #clear} allocate nothing.
 */
public final class IoVector implements AutoCloseable {
    /** The size of struct iovec. */
    private static final int RANGE_BYTES = 16;

    private final Arena arena = Arena.ofShared();
    private final int capacity;
    private final long ranges;
    private final long descriptors;
    private int count;

    /** An empty list with room for this many ranges. */
    public IoVector(int capacity) {
        this.capacity = capacity;
        MemorySegment memory = arena.allocate((long) capacity * (RANGE_BYTES + Long.BYTES), Long.BYTES);
        this.ranges = memory.address();
        this.descriptors = ranges + (long) capacity * RANGE_BYTES;
    }

    /** Adds a range; false if the list is full. */
    public boolean add(long address, long bytes, long descriptor) {
        if (count == capacity) {
            return false;
        }
        Raw.putPointer(ranges + (long) count * RANGE_BYTES, address);
        Raw.putPointer(ranges + (long) count * RANGE_BYTES + Long.BYTES, bytes);
        Raw.putPointer(descriptors + (long) count * Long.BYTES, descriptor);
        count++;
        return true;
    }

    /** Removes all ranges. */
    public void clear() {
        count = 0;
    }

    /** How many ranges there are. */
    public int count() {
        return count;
    }

    long ranges() {
        return ranges;
    }

    long descriptors() {
        return descriptors;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
