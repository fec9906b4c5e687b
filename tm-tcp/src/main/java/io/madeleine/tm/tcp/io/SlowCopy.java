package io.madeleine.tm.tcp.io;

/**
 * Detects copies that are slow in the kernel. AMD processors copy with "rep movsb" at a fifth of their rate if, within
 * the page, the target lies 1 to 31 bytes behind the source. One side of such a copy is a kernel page, which mostly
 * begins with a packet, that is with its header. So writes are slow from memory at the beginning of a page, and reads
 * are slow into memory 16 bytes behind one, where malloc places large blocks. An additional copy through a buffer
 * takes less time.
 *
 * <p>Threading: stateless.
 */
public final class SlowCopy {
    public static final int PAGE_BYTES = 4096;

    /** The offset of buffers in a page: far from its beginning. */
    static final int AWAY_BYTES = 2048;

    private static final int BEHIND_BYTES = 32;

    private SlowCopy() {}

    /**
     * Whether a copy is slow.
     *
     * @param source the address of the source, or its offset in a page
     * @param target the address of the target, or its offset in a page
     */
    public static boolean toBehind(long source, long target) {
        long distance = target - source & PAGE_BYTES - 1;
        return distance > 0 && distance < BEHIND_BYTES;
    }
}
