package io.madeleine.tm.sci;

import java.lang.foreign.MemorySegment;

/**
 * The file of a {@linkplain SharedBlocks shared block}:
 *
 * <pre>
 *   0                      the block, filled up to a page
 *   end - 4096             63 exports of 64 bytes: the key, or 0; how many operations of peers are under way
 *   end - 64               state: LIVE, or FREED: who has it mapped is to let go of it
 *   end - 56               how many bytes the block has
 * </pre>
 *
 * What its owner has to say of it stands at the end, which is gone first if somebody cuts the file short.
 *
 * <p>Threading: stateless.
 */
final class BlockLayout {
    static final long LIVE = 0x4d61_6465_4c69_7665L;
    static final long FREED = 0x4d61_6465_4f76_6572L;

    private static final long CONTROL_BYTES = CellLayout.PAGE_BYTES;
    private static final long FROM_END = 64;

    /** How many exports of a block there can be at a time. */
    static final int EXPORTS = 63;

    private static final long EXPORT_BYTES = 64;
    private static final long USERS = 8;
    private static final long BYTES = 8;

    private BlockLayout() {}

    /** How long the file of a block is. */
    static long fileBytes(long blockBytes) {
        return Words.align(blockBytes, CellLayout.PAGE_BYTES) + CONTROL_BYTES;
    }

    /** Writes what stands at the end. */
    static void begin(MemorySegment file, long blockBytes) {
        Words.setPlain(file, state(file) + BYTES, blockBytes);
        Words.setRelease(file, state(file), LIVE);
    }

    /** Tells who has it mapped that it is no more. */
    static void free(MemorySegment file) {
        Words.setVolatile(file, state(file), FREED);
    }

    static boolean isLive(MemorySegment file) {
        return Words.acquire(file, state(file)) == LIVE;
    }

    /** How long the block in a mapped file is; -1 if that makes no sense. */
    static long blockBytes(MemorySegment file) {
        if (file.byteSize() < fileBytes(1) || file.byteSize() % CellLayout.PAGE_BYTES != 0) {
            return -1;
        }
        long bytes = Words.plain(file, state(file) + BYTES);
        return bytes > 0 && bytes < file.byteSize() && fileBytes(bytes) == file.byteSize() ? bytes : -1;
    }

    /** Where the key of an export stands. */
    static long key(MemorySegment file, int export) {
        return file.byteSize() - CONTROL_BYTES + export * EXPORT_BYTES;
    }

    /** Where it stands how many operations are under way. */
    static long users(MemorySegment file, int export) {
        return key(file, export) + USERS;
    }

    private static long state(MemorySegment file) {
        return file.byteSize() - FROM_END;
    }
}
