package io.madeleine.tm.tcp;

/**
 * Where copies of the kernel are slow: processors of AMD copy by "rep movsb" at a fifth of their rate to a target that lies 1 to 31 bytes
 * behind the source, pages aside. On the other side of the copy is the kernel's page, and a packet, whose header comes first, mostly
 * begins with one. So memory at the beginning of a page is slow to write from, and memory 16 bytes behind it, where malloc puts
 * large pieces, is slow to read into; to copy such blocks to or from a buffer takes less time.
 *
 * <p>Threading: thread-safe, without state.
 */
final class SlowCopy {
    static final int PAGE_BYTES = 4096;

    /** Where buffers begin, far from the beginnings of pages. */
    static final int AWAY_BYTES = 2048;

    private static final int BEHIND_BYTES = 32;

    private SlowCopy() {}

    /** Whether a copy between these places is slow: addresses, or distances from the beginning of a page. */
    static boolean toBehind(long source, long target) {
        long distance = target - source & PAGE_BYTES - 1;
        return distance > 0 && distance < BEHIND_BYTES;
    }
}
