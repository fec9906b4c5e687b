package io.madeleine.tm.sci;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * A file that many blocks are cut out of, by pages: peers map it once for all of them. It is long and empty at first; what a block
 * gets is written with zeros, which takes the room of the file system or finds that there is none. The pages of a block that was
 * freed serve the next.
 *
 * <p>Threading: guarded by {@link Slabs}, but for {@link #map} of pages that were taken.
 */
final class Slab {
    /** The largest block. */
    static final long MAX_BLOCK_BYTES = 512 * 1024;

    private static final long BYTES = 4 << 20;

    /** At the end: there is an export for each page at least. */
    private static final long CONTROL_BYTES = 64 * 1024;

    private static final long MEMORY_BYTES = BYTES - CONTROL_BYTES;
    private static final long PAGE_BYTES = CellLayout.PAGE_BYTES;
    private static final int PAGES = (int) (MEMORY_BYTES / PAGE_BYTES);

    private final Arena arena;
    private final Path path;
    private final BlockFile file;
    private final BitSet taken = new BitSet(PAGES);
    private int blocks;

    /** Pages that nobody may have any more, since a peer may still write to them. */
    private boolean spoilt;

    private Slab(Arena arena, Path path, BlockFile file) {
        this.arena = arena;
        this.path = path;
        this.file = file;
    }

    /**
     * Makes the file of that number.
     *
     * @throws IOException if there is no room for its end; nothing is left then
     */
    static Slab create(int number, Path path) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment end = SegmentFile.createEnd(path, BYTES, CONTROL_BYTES, arena);
            BlockLayout.begin(end, MEMORY_BYTES);
            return new Slab(arena, path, new BlockFile(number, end, CONTROL_BYTES));
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    private static int pages(long bytes) {
        return (int) (Words.align(bytes, PAGE_BYTES) / PAGE_BYTES);
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

    /** Takes pages that follow one another, of which there are enough, and answers where they begin in the file. */
    long take(long bytes) {
        int count = pages(bytes);
        int first = firstFree(count);
        taken.set(first, first + count);
        blocks++;
        return first * PAGE_BYTES;
    }

    /** Maps pages that were taken, full of zeros. */
    MemorySegment map(long offset, long bytes, Arena user) throws IOException {
        return SegmentFile.mapZeros(path, offset, bytes, user);
    }

    /** Gives pages back that nobody can touch any more. */
    void giveBack(long offset, long bytes) {
        int first = (int) (offset / PAGE_BYTES);
        taken.clear(first, first + pages(bytes));
        blocks--;
    }

    /** Gives nothing back of a block that is no more: somebody may still write to it. */
    void spoil() {
        spoilt = true;
        blocks--;
    }

    /** Whether there is no block in it. */
    boolean isUnused() {
        return blocks == 0;
    }

    /** Whether it is as good as new. */
    boolean isEmpty() {
        return blocks == 0 && !spoilt;
    }

    /** Tells peers that it is no more, and lets go of it. The file is for others to delete. */
    void free() {
        file.free();
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException _) {
                Thread.onSpinWait(); // somebody looks at an export just now
            }
        }
    }
}
