package io.madeleine.mpi.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The memory for bodies of messages that nobody has asked for, in blocks of powers of two. It grows to what the credits
 * of the peers allow, and is freed with the device.
 *
 * <p>Threading: guarded by the lock of the device.
 */
final class KeptMemory {
    private static final int LEAST_SHIFT = 6;
    private static final int CLASSES = 20;
    private static final long SLAB_BYTES = 64 << 10;

    private final Arena arena = Arena.ofAuto();
    private final @Nullable Block[] free = new Block[CLASSES];

    /** A block of memory. */
    static final class Block {
        final MemorySegment segment;
        private final int sizeClass;
        private @Nullable Block next;

        private Block(MemorySegment segment, int sizeClass) {
            this.segment = segment;
            this.sizeClass = sizeClass;
        }
    }

    private static int sizeClass(long bytes) {
        return Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(bytes - 1) - LEAST_SHIFT);
    }

    Block take(long bytes) {
        int sizeClass = sizeClass(bytes);
        Block first = free[sizeClass];
        if (first == null) {
            addSlab(sizeClass);
            first = free[sizeClass];
        }
        if (first == null) {
            throw new IllegalStateException("no memory for a message of " + bytes + " bytes");
        }
        free[sizeClass] = first.next;
        first.next = null;
        return first;
    }

    private void addSlab(int sizeClass) {
        long size = 1L << LEAST_SHIFT + sizeClass;
        MemorySegment slab = allocate(Math.max(size, SLAB_BYTES));
        for (long at = 0; at < slab.byteSize(); at += size) {
            Block block = new Block(slab.asSlice(at, size), sizeClass);
            block.next = free[sizeClass];
            free[sizeClass] = block;
        }
    }

    /** Native memory, or the heap's if the JVM allows no more of it ({@code -XX:MaxDirectMemorySize}). */
    private MemorySegment allocate(long bytes) {
        try {
            return arena.allocate(bytes, 64);
        } catch (OutOfMemoryError _) {
            return MemorySegment.ofArray(new long[Math.toIntExact(bytes / Long.BYTES)]);
        }
    }

    void give(Block block) {
        block.next = free[block.sizeClass];
        free[block.sizeClass] = block;
    }
}
