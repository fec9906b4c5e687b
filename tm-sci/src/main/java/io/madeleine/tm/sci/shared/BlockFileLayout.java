package io.madeleine.tm.sci.shared;

import io.madeleine.tm.sci.memory.OrderedWords;
import java.lang.foreign.MemorySegment;

/**
 * The layout of a file that peers can map, with one {@linkplain SharedBlock block} or a {@linkplain Slab slab} of many:
 *
 * <pre>
 *   0                      the memory, filled up to a page
 *   end - 128 - 64 n       export n: its key, or 0; then the number of operations of peers under way
 *   end - 64               state: LIVE, or FREED: peers have to unmap the file
 *   end - 56               the number of bytes of memory
 * </pre>
 *
 * The control area is at the end, because truncation removes the end of a file first. All methods but {@link
 * #memoryBytes} also work on a mapping of the end alone.
 *
 * <p>Threading: stateless.
 */
public final class BlockFileLayout {
    static final long LIVE = 0x4d61_6465_4c69_7665L;
    static final long FREED = 0x4d61_6465_4f76_6572L;

    /** The size of the control area of a file with one block. */
    static final long CONTROL_BYTES = OrderedWords.PAGE_BYTES;

    private static final long FROM_END = 64;
    private static final long EXPORT_BYTES = 64;
    private static final long USERS = 8;
    private static final long BYTES = 8;

    private BlockFileLayout() {}

    /** The length of the file of a block. */
    static long fileBytes(long blockBytes) {
        return OrderedWords.align(blockBytes, OrderedWords.PAGE_BYTES) + CONTROL_BYTES;
    }

    /** The most exports at a time with a control area of that size. */
    static int exports(long controlBytes) {
        return (int) Math.min(Integer.MAX_VALUE, (controlBytes - FROM_END) / EXPORT_BYTES);
    }

    /** Initialises the control area. */
    static void begin(MemorySegment end, long memoryBytes) {
        OrderedWords.setPlain(end, state(end) + BYTES, memoryBytes);
        OrderedWords.setRelease(end, state(end), LIVE);
    }

    /** Marks the file as freed. */
    static void free(MemorySegment end) {
        OrderedWords.setVolatile(end, state(end), FREED);
    }

    static boolean isLive(MemorySegment end) {
        return OrderedWords.acquire(end, state(end)) == LIVE;
    }

    /** The bytes of memory in a file that is mapped as a whole; -1 if the file is invalid. */
    static long memoryBytes(MemorySegment file) {
        if (file.byteSize() < fileBytes(1) || file.byteSize() % OrderedWords.PAGE_BYTES != 0) {
            return -1;
        }
        long bytes = OrderedWords.plain(file, state(file) + BYTES);
        return bytes > 0 && bytes < file.byteSize() && fileBytes(bytes) <= file.byteSize() ? bytes : -1;
    }

    /** The offset of an export's key. */
    static long key(MemorySegment end, int export) {
        return state(end) - (export + 1) * EXPORT_BYTES;
    }

    /** The offset of an export's count of operations under way. */
    public static long users(MemorySegment end, int export) {
        return key(end, export) + USERS;
    }

    private static long state(MemorySegment end) {
        return end.byteSize() - FROM_END;
    }
}
