package io.madeleine.tm.sci;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The 64-bit words through which processes talk in shared memory, each access with its memory order in its name. Offsets
 * are multiples of eight.
 *
 * <p>Threading: stateless.
 */
final class Words {
    /** Words written by different processes lie this far apart: two cache lines, since processors prefetch pairs. */
    static final int LINE_BYTES = 128;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    private Words() {}

    static long plain(MemorySegment memory, long offset) {
        return (long) LONG.get(memory, offset);
    }

    static long volatileWord(MemorySegment memory, long offset) {
        return (long) LONG.getVolatile(memory, offset);
    }

    static void setPlain(MemorySegment memory, long offset, long value) {
        LONG.set(memory, offset, value);
    }

    static long opaque(MemorySegment memory, long offset) {
        return (long) LONG.getOpaque(memory, offset);
    }

    static long acquire(MemorySegment memory, long offset) {
        return (long) LONG.getAcquire(memory, offset);
    }

    static void setRelease(MemorySegment memory, long offset, long value) {
        LONG.setRelease(memory, offset, value);
    }

    static void setVolatile(MemorySegment memory, long offset, long value) {
        LONG.setVolatile(memory, offset, value);
    }

    static long getAndSet(MemorySegment memory, long offset, long value) {
        return (long) LONG.getAndSet(memory, offset, value);
    }

    /** Sets bits; the read-modify-write is spared where they are set already. */
    static void setBits(MemorySegment memory, long offset, long bits) {
        if ((volatileWord(memory, offset) & bits) != bits) {
            long _ = (long) LONG.getAndBitwiseOr(memory, offset, bits);
        }
    }

    /** {@code bytes} rounded up to a multiple of {@code unit}, a power of two. */
    static long align(long bytes, long unit) {
        return bytes + unit - 1 & -unit;
    }
}
