package io.madeleine.pmm;

import io.madeleine.pmm.spi.LargePages;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.Region;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * An arena of a session; all its memory lies in regions of the session. A large block has a region of its own: memory
 * that peers can read, if an adapter offers such memory, otherwise large pages where the system has them. Smaller
 * blocks share regions.
 *
 * <p>Threading: thread-safe.
 */
public final class RegionArena implements Arena {
    private static final long ALIGNMENT_BYTES = 64;
    static final long PAGE_BYTES = 4096;

    /** The largest request; allocators may add to a size without an overflow. */
    private static final long MOST_BYTES = Long.MAX_VALUE - (1 << 20);

    /** The size of a region that small blocks share. */
    private static final long CHUNK_BYTES = 64 * 1024;

    private static final long SMALL_BYTES = CHUNK_BYTES / 4;

    /** The longest region of shared memory that several blocks share. */
    private static final long COMMON_BYTES = 512 * 1024;

    /** The largest block in such a region. */
    private static final long COMMON_BLOCK_BYTES = COMMON_BYTES / 4;

    private final SessionArenas arenas;
    private final Arena memory;
    private final List<Region> regions = new ArrayList<>();

    /** Removed from the table and not freed yet, because a system call used the memory. */
    private final List<Region> removed = new ArrayList<>();

    /** Read-locked while memory is allocated; write-locked to end the arena. */
    private final ReentrantReadWriteLock life = new ReentrantReadWriteLock();

    private final BumpAllocator small = new BumpAllocator(CHUNK_BYTES, CHUNK_BYTES);
    private final BumpAllocator common = new BumpAllocator(PAGE_BYTES, COMMON_BYTES);
    private volatile boolean ended;

    /** An arena whose memory lies in {@code memory}. */
    RegionArena(SessionArenas arenas, Arena memory) {
        this.arenas = arenas;
        this.memory = memory;
    }

    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
        if (byteSize < 0 || byteAlignment <= 0 || Long.bitCount(byteAlignment) != 1) {
            throw new IllegalArgumentException(
                    byteSize + " bytes, aligned to " + byteAlignment + ": expected 0 or more, and a power of two");
        }
        long alignment = Math.max(byteAlignment, ALIGNMENT_BYTES);
        life.readLock().lock();
        try {
            throwIfEnded();
            return byteSize == 0 ? memory.allocate(0, alignment) : forMessages(byteSize, alignment);
        } finally {
            life.readLock().unlock();
        }
    }

    private void throwIfEnded() {
        if (ended) {
            throw new IllegalStateException("Already closed");
        }
    }

    private MemorySegment forMessages(long bytes, long alignment) {
        if (alignment <= PAGE_BYTES) {
            for (MemorySource source : arenas.sources()) {
                MemorySegment found = ofSource(source, bytes);
                if (found != null) {
                    return found;
                }
            }
        }
        LargePages pages = arenas.largePages();
        if (pages != null && bytes >= pages.pageBytes() && alignment <= pages.pageBytes()) {
            Optional<MemorySegment> found = pages.allocate(bytes, memory);
            if (found.isPresent()) {
                return enter(found.get(), Region.Kind.LARGE_PAGES, "");
            }
        }
        return bytes < SMALL_BYTES && alignment < SMALL_BYTES
                ? small(bytes, alignment)
                : enter(memory.allocate(bytes, alignment), Region.Kind.ORDINARY, "");
    }

    private @Nullable MemorySegment ofSource(MemorySource source, long bytes) {
        if (bytes >= source.commonFromBytes() && bytes <= COMMON_BLOCK_BYTES) {
            synchronized (regions) {
                MemorySegment block = common.allocate(bytes, PAGE_BYTES);
                if (block != null) {
                    return block;
                }
                Optional<MemorySegment> fresh = source.allocate(common.nextBytes(bytes), memory);
                if (fresh.isPresent()) {
                    return common.allocateFrom(enter(fresh.get(), Region.Kind.SHARED, ""), bytes, PAGE_BYTES);
                }
            }
        }
        return source.allocate(bytes, memory)
                .map(found -> enter(found, Region.Kind.SHARED, ""))
                .orElse(null);
    }

    private MemorySegment small(long bytes, long alignment) {
        synchronized (regions) {
            MemorySegment block = small.allocate(bytes, alignment);
            return block != null
                    ? block
                    : small.allocateFrom(
                            enter(memory.allocate(CHUNK_BYTES, PAGE_BYTES), Region.Kind.ORDINARY, ""),
                            bytes,
                            alignment);
        }
    }

    /**
     * Allocates memory of any size that peers can access, aligned to 64 bytes. If there is no room for it, returns
     * ordinary memory; an attempt to export that says why.
     */
    public MemorySegment allocateShared(long bytes) {
        if (bytes < 1 || bytes > MOST_BYTES) {
            throw new IllegalArgumentException(bytes + " bytes: expected 1 to " + MOST_BYTES);
        }
        life.readLock().lock();
        try {
            throwIfEnded();
            String why = "no network of the session has memory that its peers can reach";
            for (MemorySource source : arenas.sources()) {
                try {
                    return bytes <= COMMON_BLOCK_BYTES
                            ? sharedInCommon(source, bytes)
                            : enter(source.allocateShared(bytes, memory), Region.Kind.SHARED, "");
                } catch (IOException e) {
                    why = String.valueOf(e.getMessage());
                }
            }
            return enter(memory.allocate(bytes, ALIGNMENT_BYTES), Region.Kind.ORDINARY, why);
        } finally {
            life.readLock().unlock();
        }
    }

    private MemorySegment sharedInCommon(MemorySource source, long bytes) throws IOException {
        synchronized (regions) {
            MemorySegment block = common.allocate(bytes, PAGE_BYTES);
            if (block != null) {
                return block;
            }
            MemorySegment fresh;
            try {
                fresh = source.allocateShared(common.nextBytes(bytes), memory);
            } catch (IOException _) {
                fresh = source.allocateShared(bytes, memory); // there may still be room for this block alone
            }
            return common.allocateFrom(enter(fresh, Region.Kind.SHARED, ""), bytes, PAGE_BYTES);
        }
    }

    boolean isOf(SessionArenas owner) {
        return arenas == owner;
    }

    private MemorySegment enter(MemorySegment found, Region.Kind kind, String remark) {
        synchronized (regions) {
            regions.add(arenas.table().add(found, kind, remark));
        }
        return found;
    }

    @Override
    public MemorySegment.Scope scope() {
        return memory.scope();
    }

    /**
     * Frees the memory once no message, no network and no peer uses it, at the latest after the session's peer timeout.
     * The memory of the session's own arena is freed only with the session.
     *
     * @throws IllegalStateException if the arena is closed already, or a system call still uses its memory
     * @throws UnsupportedOperationException if this is the session's own arena
     */
    @Override
    public void close() {
        if (arenas.isOfSession(this)) {
            throw new UnsupportedOperationException(
                    "the arena of a session is closed by Session.close(); for memory of your own"
                            + " lifetime use Session.newArena() or another arena");
        }
        arenas.close(this);
    }

    /** Ends allocation, or permits it again; returns false if nothing changed. */
    boolean end(boolean wanted) {
        life.writeLock().lock();
        try {
            boolean changed = ended != wanted;
            ended = wanted;
            return changed;
        } finally {
            life.writeLock().unlock();
        }
    }

    /**
     * Makes all modules release the regions, and frees them. The arena must have {@linkplain #end ended}; several
     * threads may call this.
     */
    void free(long deadlineNs) {
        synchronized (regions) {
            arenas.table().remove(regions, deadlineNs);
            removed.addAll(regions);
            regions.clear();
            small.reset();
            common.reset();
            while (memory.scope().isAlive()) {
                try {
                    memory.close();
                } catch (IllegalStateException e) { // a system call uses the memory
                    if (System.nanoTime() - deadlineNs > 0) {
                        throw e;
                    }
                    Thread.yield();
                }
            }
            arenas.table().tellFreed(removed);
            removed.clear();
        }
    }

    /**
     * Makes all modules release the regions, which stay as ordinary memory: no module may reuse it. The arena must have
     * {@linkplain #end ended}.
     */
    void letGo() {
        synchronized (regions) {
            arenas.table().remove(regions, System.nanoTime());
            regions.clear();
        }
    }

    /** The arena's regions. */
    List<Region> regions() {
        synchronized (regions) {
            return List.copyOf(regions);
        }
    }
}
