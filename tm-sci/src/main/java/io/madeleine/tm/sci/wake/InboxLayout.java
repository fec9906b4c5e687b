package io.madeleine.tm.sci.wake;

import io.madeleine.tm.sci.memory.OrderedWords;

/**
 * The layout of an inbox; offsets in bytes.
 *
 * <pre>
 *   0      magic and version
 *   128    asleep: odd while the owner sleeps or is about to sleep; counts up
 *   136    summary: bit w is set if arrival word w may have flags
 *   144    64 arrival words of 64 flags, one flag for each slot
 * </pre>
 *
 * <p>An announcement touches all three, and so does the owner who takes it. With a few hundred slots they lie on one
 * cache line, which travels once.
 */
public final class InboxLayout {
    static final long MAGIC = 0x4d61_6449_6e62_0002L;

    static final long MAGIC_OFFSET = 0;
    public static final long ASLEEP = OrderedWords.LINE_BYTES;
    public static final long SUMMARY = ASLEEP + Long.BYTES;
    public static final long BYTES = 4096;

    /**
     * The number of slots. The first one is for connections that are being made; each other slot is for one connection.
     */
    public static final int SLOTS = 64 * 64;

    public static final int CONTROL_SLOT = 0;

    private static final long ARRIVALS = SUMMARY + Long.BYTES;

    private InboxLayout() {}

    public static long word(int slot) {
        return ARRIVALS + (long) (slot / Long.SIZE) * Long.BYTES;
    }

    public static long bit(int slot) {
        return 1L << slot % Long.SIZE;
    }

    static long summaryBit(int slot) {
        return 1L << (slot / Long.SIZE);
    }
}
