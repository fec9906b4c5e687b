package io.madeleine.tm.bip.protocol;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A window of a stream in memory: the byte at an offset of the stream lies at the offset modulo the capacity. The
 * memory is taken from the pool with the first byte.
 *
 * <p>Threading: confined.
 */
final class Ring {
    private final RingPool pool;
    private final int capacity;
    private @Nullable RingMemory memory;

    /**
     * @param capacity a power of two
     */
    Ring(RingPool pool, int capacity) {
        if (Integer.bitCount(capacity) != 1) {
            throw new IllegalArgumentException("a ring of " + capacity + " bytes; a power of two expected");
        }
        this.pool = pool;
        this.capacity = capacity;
    }

    int capacity() {
        return capacity;
    }

    MemorySegment memory() {
        RingMemory taken = memory;
        if (taken == null) {
            taken = pool.take(capacity);
            memory = taken;
        }
        return taken.ring();
    }

    /** Whether the ring has its memory, or gets it now. */
    boolean hasMemory() {
        if (memory == null) {
            try {
                MemorySegment _ = memory();
            } catch (OutOfMemoryError _) {
                return false;
            }
        }
        return true;
    }

    /** Whether the ring has its memory. */
    boolean isHeld() {
        return memory != null;
    }

    int index(long offset) {
        return (int) offset & (capacity - 1);
    }

    /** How many of these bytes, from an offset on, lie in one piece. */
    int piece(long offset, int bytes) {
        return Math.min(bytes, capacity - index(offset));
    }

    void write(long offset, MemorySegment source, long position, int bytes) {
        int first = piece(offset, bytes);
        Blocks.copy(source, position, memory(), index(offset), first);
        if (first < bytes) {
            Blocks.copy(source, position + first, memory(), 0, bytes - first);
        }
    }

    /** Writes eight bytes, little-endian. */
    void writeLong(long offset, long value) {
        int index = index(offset);
        if (index <= capacity - Long.BYTES) {
            memory().set(Blocks.LONG, index, value);
        } else {
            for (int i = 0; i < Long.BYTES; i++) {
                memory().set(Blocks.BYTE, index(offset + i), (byte) (value >>> (i * Byte.SIZE)));
            }
        }
    }

    /** Reads eight bytes, little-endian. */
    long readLong(long offset) {
        int index = index(offset);
        if (index <= capacity - Long.BYTES) {
            return memory().get(Blocks.LONG, index);
        }
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value |= (memory().get(Blocks.BYTE, index(offset + i)) & 0xFFL) << (i * Byte.SIZE);
        }
        return value;
    }

    void read(long offset, MemorySegment target, long position, int bytes) {
        int first = piece(offset, bytes);
        Blocks.copy(memory(), index(offset), target, position, first);
        if (first < bytes) {
            Blocks.copy(memory(), 0, target, position + first, bytes - first);
        }
    }

    /** Ends a datagram with bytes of the ring as they lie there; returns false if they cannot stay there. */
    boolean lend(long offset, int bytes, Datagram out) {
        RingMemory taken = memory;
        if (taken == null || piece(offset, bytes) < bytes) {
            return false;
        }
        return out.endWith(taken, index(offset), bytes);
    }

    /** Gives the memory back; its content is no longer needed. */
    void rest() {
        RingMemory taken = memory;
        if (taken != null) {
            memory = null;
            pool.giveBack(taken);
        }
    }
}
