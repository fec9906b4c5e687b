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
 * An arena of a session: all its memory lies in regions of the session's. Large blocks are regions of their own, where peers can
 * read them if an adapter has such memory, else on large pages where the system has them; small ones share regions.
 *
 * <p>Threading: thread-safe.
 */
public final class RegionArena implements Arena {
    private static final long ALIGNMENT_BYTES = 64;
    private static final long PAGE_BYTES = 4096;

    /** What small blocks share. */
    private static final long CHUNK_BYTES = 64 * 1024;

    private static final long SMALL_BYTES = CHUNK_BYTES / 4;

    private final SessionArenas arenas;
    private final Arena memory = Arena.ofShared();
    private final List<Region> regions = new ArrayList<>();

    /** Read-locked while memory is taken, write-locked once when it is all to be freed. */
    private final ReentrantReadWriteLock life = new ReentrantReadWriteLock();

    private @Nullable MemorySegment chunk;
    private long chunkUsedBytes;
    private volatile boolean ended;

    RegionArena(SessionArenas arenas) {
        this.arenas = arenas;
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
                Optional<MemorySegment> found = source.allocate(bytes, memory);
                if (found.isPresent()) {
                    return enter(found.get(), Region.Kind.SHARED, "");
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

    private MemorySegment small(long bytes, long alignment) {
        synchronized (regions) {
            MemorySegment from = chunk;
            long place = from == null ? 0 : aligned(from.address() + chunkUsedBytes, alignment) - from.address();
            if (from == null || place + bytes > from.byteSize()) {
                from = enter(memory.allocate(CHUNK_BYTES, PAGE_BYTES), Region.Kind.ORDINARY, "");
                chunk = from;
                place = aligned(from.address(), alignment) - from.address();
            }
            chunkUsedBytes = place + bytes;
            return from.asSlice(place, bytes);
        }
    }

    private static long aligned(long address, long alignment) {
        return address + alignment - 1 & -alignment;
    }

    /**
     * Memory that peers can reach, of any size, 64-byte aligned; where there is no room for it, ordinary memory that says so when
     * it is to be exported.
     */
    public MemorySegment allocateShared(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException(bytes + " bytes: expected at least 1");
        }
        life.readLock().lock();
        try {
            throwIfEnded();
            String why = "no network of the session has memory that its peers can reach";
            for (MemorySource source : arenas.sources()) {
                try {
                    return enter(source.allocateShared(bytes, memory), Region.Kind.SHARED, "");
                } catch (IOException e) {
                    why = String.valueOf(e.getMessage());
                }
            }
            return enter(memory.allocate(bytes, ALIGNMENT_BYTES), Region.Kind.ORDINARY, why);
        } finally {
            life.readLock().unlock();
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
     * Frees the memory, once no message, no network and no peer uses it any more, or the session's peer timeout is over. Memory of
     * the session's own arena is freed with the session alone.
     *
     * @throws IllegalStateException if it is closed already, or its memory is in use in this moment by a system call
     * @throws UnsupportedOperationException if it is the session's own
     */
    @Override
    public void close() {
        if (arenas.lasting() == this) {
            throw new UnsupportedOperationException(
                    "the arena of a session is closed by Session.close(); for memory of your own"
                            + " lifetime use Session.newArena() or another arena");
        }
        arenas.close(this);
    }

    /** Takes no more memory from now on, or does so again; false if that was so already. */
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

    /** Has modules let go of what it has, and frees that. Once it has {@linkplain #end ended}; several may. */
    void free(long deadlineNs) {
        synchronized (regions) {
            arenas.table().remove(regions, deadlineNs);
            regions.clear();
            chunk = null;
            while (memory.scope().isAlive()) {
                try {
                    memory.close();
                } catch (IllegalStateException e) { // a system call has it
                    if (System.nanoTime() - deadlineNs > 0) {
                        throw e;
                    }
                    Thread.yield();
                }
            }
        }
    }

    /** What it has. */
    List<Region> regions() {
        synchronized (regions) {
            return List.copyOf(regions);
        }
    }
}
