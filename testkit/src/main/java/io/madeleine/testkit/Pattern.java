package io.madeleine.testkit;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/**
 * Test contents that depend on a number and on each byte's position, so that a lost, repeated or exchanged byte is
 * detected.
 *
 * <p>Threading: stateless.
 */
public final class Pattern {
    private static final int PERIOD_BYTES = 1 << 16;
    private static final MemorySegment PERIODS = periods();

    private Pattern() {}

    private static MemorySegment periods() {
        MemorySegment pattern = Arena.global().allocate(2L * PERIOD_BYTES, Long.BYTES);
        Random random = new Random(42);
        for (long i = 0; i < PERIOD_BYTES; i++) {
            byte value = (byte) random.nextInt();
            pattern.set(ValueLayout.JAVA_BYTE, i, value);
            pattern.set(ValueLayout.JAVA_BYTE, i + PERIOD_BYTES, value);
        }
        return pattern;
    }

    private static long from(int number, long position) {
        return Math.floorMod(number * 7919L + position, PERIOD_BYTES);
    }

    /** Writes a part of the contents with this number, from {@code position} on. */
    public static void fill(int number, long position, MemorySegment target, long offset, long bytes) {
        for (long done = 0; done < bytes; ) {
            long here = Math.min(bytes - done, PERIOD_BYTES);
            MemorySegment.copy(PERIODS, from(number, position + done), target, offset + done, here);
            done += here;
        }
    }

    /** Fills a block with the contents with this number and returns it. */
    public static MemorySegment fill(int number, MemorySegment block) {
        fill(number, 0, block, 0, block.byteSize());
        return block;
    }

    /** Throws {@link ContractViolation} unless the memory holds this part of the contents with this number. */
    public static void check(int number, long position, MemorySegment found, long offset, long bytes) {
        for (long done = 0; done < bytes; ) {
            long here = Math.min(bytes - done, PERIOD_BYTES);
            long from = from(number, position + done);
            long mismatch =
                    MemorySegment.mismatch(PERIODS, from, from + here, found, offset + done, offset + done + here);
            if (mismatch >= 0) {
                throw new ContractViolation("contents number " + number + " of " + found.byteSize()
                        + " bytes are wrong at byte " + (position + done + mismatch) + " of " + (position + bytes));
            }
            done += here;
        }
    }

    /** Throws {@link ContractViolation} unless the block holds the contents with this number. */
    public static void check(int number, MemorySegment block) {
        check(number, 0, block, 0, block.byteSize());
    }
}
