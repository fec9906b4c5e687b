package io.madeleine.tm.sci.shared;

import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SegmentFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * A file that is divided by pages into many blocks; a peer maps it once for all of them. The file is sparse at first.
 * The pages of a new block are written with zeros: this reserves their space in the file system, or fails if there is
 * none. The pages of a freed block are reused.
 *
 * <p>Threading: guarded by {@link Slabs}; {@link #map} of pages that were taken needs no lock.
 */
public final class Slab {
    /** The largest block. */
    public static final long MAX_BLOCK_BYTES = 512 * 1024;

    private static final long BYTES = 4 << 20;

    /** The size of the control area at the end of the file, enough for one export per page. */
    private static final long CONTROL_BYTES = 64 * 1024;

    private static final long MEMORY_BYTES = BYTES - CONTROL_BYTES;
    private static final long PAGE_BYTES = OrderedWords.PAGE_BYTES;
    private static final int PAGES = (int) (MEMORY_BYTES / PAGE_BYTES);

    private final Arena arena;
    private final Path path;
    private final BlockFile file;
    private final BitSet taken = new BitSet(PAGES);
    private int blocks;

    /** Whether some pages must not be reused, because a peer may still write to them. */
    private boolean spoilt;

    private Slab(Arena arena, Path path, BlockFile file) {
        this.arena = arena;
        this.path = path;
        this.file = file;
    }

    /**
     * Creates the file of a slab.
     *
     * @throws IOException if there is no room for the control area; no file is left then
     */
    static Slab create(int number, Path path) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment end = SegmentFile.createEnd(path, BYTES, CONTROL_BYTES, arena);
            BlockFileLayout.begin(end, MEMORY_BYTES);
            return new Slab(arena, path, new BlockFile(number, end, CONTROL_BYTES));
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    private static int pages(long bytes) {
        return (int) (OrderedWords.align(bytes, PAGE_BYTES) / PAGE_BYTES);
    }

    BlockFile file() {
        return file;
    }

    /** Whether there is room for a block. */
    boolean hasRoom(long bytes) {
        return firstFree(pages(bytes)) >= 0;
    }

    private int firstFree(int count) {
        int first = taken.nextClearBit(0);
        while (first + count <= PAGES) {
            int next = taken.nextSetBit(first);
            if (next < 0 || next - first >= count) {
                return first;
            }
            first = taken.nextClearBit(next);
        }
        return -1;
    }

    /** Takes consecutive pages for a block, for which {@link #hasRoom} was true; returns their offset in the file. */
    long take(long bytes) {
        int count = pages(bytes);
        int first = firstFree(count);
        taken.set(first, first + count);
        blocks++;
        return first * PAGE_BYTES;
    }

    /** Maps pages that were taken; they are zero. */
    MemorySegment map(long offset, long bytes, Arena user) throws IOException {
        return SegmentFile.mapZeros(path, offset, bytes, user);
    }

    /** Returns pages that nobody can access. */
    void giveBack(long offset, long bytes) {
        int first = (int) (offset / PAGE_BYTES);
        taken.clear(first, first + pages(bytes));
        blocks--;
    }

    /** Forgets a block without returning its pages: a peer may still write to them. */
    void spoil() {
        spoilt = true;
        blocks--;
    }

    /** Whether there is no block in the slab. */
    boolean isUnused() {
        return blocks == 0;
    }

    /** Whether all pages can be taken. */
    boolean isEmpty() {
        return blocks == 0 && !spoilt;
    }

    /** Marks the file as freed, so that peers unmap it, and unmaps the control area. The caller deletes the file. */
    void free() {
        file.free();
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException _) {
                Thread.onSpinWait(); // Another thread is reading an export right now.
            }
        }
    }
}
