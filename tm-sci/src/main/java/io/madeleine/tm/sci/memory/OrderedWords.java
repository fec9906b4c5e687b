package io.madeleine.tm.sci.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Access to the 64-bit words by which processes communicate in shared memory; each method's name tells its memory
 * order. Offsets are multiples of 8, or of 4 for half words.
 *
 * <p>Threading: stateless.
 */
public final class OrderedWords {
    /**
     * The distance between words that different processes write: two cache lines, because processors prefetch lines in
     * pairs.
     */
    public static final int LINE_BYTES = 128;

    /** The size of a page. */
    public static final int PAGE_BYTES = 4096;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();

    private OrderedWords() {}

    public static long plain(MemorySegment memory, long offset) {
        return (long) LONG.get(memory, offset);
    }

    public static long volatileWord(MemorySegment memory, long offset) {
        return (long) LONG.getVolatile(memory, offset);
    }

    public static void setPlain(MemorySegment memory, long offset, long value) {
        LONG.set(memory, offset, value);
    }

    public static long opaque(MemorySegment memory, long offset) {
        return (long) LONG.getOpaque(memory, offset);
    }

    public static long acquire(MemorySegment memory, long offset) {
        return (long) LONG.getAcquire(memory, offset);
    }

    public static void setRelease(MemorySegment memory, long offset, long value) {
        LONG.setRelease(memory, offset, value);
    }

    public static void setVolatile(MemorySegment memory, long offset, long value) {
        LONG.setVolatile(memory, offset, value);
    }

    public static long getAndSet(MemorySegment memory, long offset, long value) {
        return (long) LONG.getAndSet(memory, offset, value);
    }

    public static long getAndAdd(MemorySegment memory, long offset, long value) {
        return (long) LONG.getAndAdd(memory, offset, value);
    }

    public static long compareAndExchange(MemorySegment memory, long offset, long expected, long value) {
        return (long) LONG.compareAndExchange(memory, offset, expected, value);
    }

    /**
     * Raises a word to the value, unless it is as high already, in one atomic step.
     *
     * @return whether it was lower
     */
    public static boolean raise(MemorySegment memory, long offset, long value) {
        long found = volatileWord(memory, offset);
        while (found < value) {
            long before = compareAndExchange(memory, offset, found, value);
            if (before == found) {
                return true;
            }
            found = before;
        }
        return false;
    }

    /** For half a word (4 bytes), at a multiple of 4. */
    public static int getAndAddInt(MemorySegment memory, long offset, int value) {
        return (int) INT.getAndAdd(memory, offset, value);
    }

    /** For half a word (4 bytes), at a multiple of 4. */
    public static int compareAndExchangeInt(MemorySegment memory, long offset, int expected, int value) {
        return (int) INT.compareAndExchange(memory, offset, expected, value);
    }

    /** Sets bits. Does no read-modify-write if they are set already. */
    public static void setBits(MemorySegment memory, long offset, long bits) {
        if ((volatileWord(memory, offset) & bits) != bits) {
            long _ = (long) LONG.getAndBitwiseOr(memory, offset, bits);
        }
    }

    /** {@code bytes} rounded up to a multiple of {@code unit}, a power of two. */
    public static long align(long bytes, long unit) {
        return bytes + unit - 1 & -unit;
    }
}
