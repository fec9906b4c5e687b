package io.madeleine.tm.sci;

import java.lang.foreign.MemorySegment;

/**
 * A file of memory that peers can map, one {@linkplain SharedBlock block} or a {@linkplain Slab slab} of many:
 *
 * <pre>
 *   0                      the memory, filled up to a page
 *   end - 128 - 64 n       export n: the key, or 0; how many operations of peers are under way
 *   end - 64               state: LIVE, or FREED: who has it mapped is to let go of it
 *   end - 56               how many bytes of memory there are
 * </pre>
 *
 * What its owner has to say of it stands at the end, which is gone first if somebody cuts the file short. All of this works
 * on the end of a file alone as well.
 *
 * <p>Threading: stateless.
 */
final class BlockLayout {
    static final long LIVE = 0x4d61_6465_4c69_7665L;
    static final long FREED = 0x4d61_6465_4f76_6572L;

    /** What a file of one block has at its end. */
    static final long CONTROL_BYTES = CellLayout.PAGE_BYTES;

    private static final long FROM_END = 64;
    private static final long EXPORT_BYTES = 64;
    private static final long USERS = 8;
    private static final long BYTES = 8;

    private BlockLayout() {}

    /** How long the file of a block is. */
    static long fileBytes(long blockBytes) {
        return Words.align(blockBytes, CellLayout.PAGE_BYTES) + CONTROL_BYTES;
    }

    /** How many exports there can be at a time where the end has that length. */
    static int exports(long controlBytes) {
        return (int) Math.min(Integer.MAX_VALUE, (controlBytes - FROM_END) / EXPORT_BYTES);
    }

    /** Writes what stands at the end. */
    static void begin(MemorySegment end, long memoryBytes) {
        Words.setPlain(end, state(end) + BYTES, memoryBytes);
        Words.setRelease(end, state(end), LIVE);
    }

    /** Tells who has it mapped that it is no more. */
    static void free(MemorySegment end) {
        Words.setVolatile(end, state(end), FREED);
    }

    static boolean isLive(MemorySegment end) {
        return Words.acquire(end, state(end)) == LIVE;
    }

    /** How much memory there is in a file that is mapped as a whole; -1 if that makes no sense. */
    static long memoryBytes(MemorySegment file) {
        if (file.byteSize() < fileBytes(1) || file.byteSize() % CellLayout.PAGE_BYTES != 0) {
            return -1;
        }
        long bytes = Words.plain(file, state(file) + BYTES);
        return bytes > 0 && bytes < file.byteSize() && fileBytes(bytes) <= file.byteSize() ? bytes : -1;
    }

    /** Where the key of an export stands. */
    static long key(MemorySegment end, int export) {
        return state(end) - (export + 1) * EXPORT_BYTES;
    }

    /** Where it stands how many operations are under way. */
    static long users(MemorySegment end, int export) {
        return key(end, export) + USERS;
    }

    private static long state(MemorySegment end) {
        return end.byteSize() - FROM_END;
    }
}
