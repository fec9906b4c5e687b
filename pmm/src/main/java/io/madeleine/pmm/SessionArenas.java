package io.madeleine.pmm;

import io.madeleine.pmm.spi.LargePages;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.SessionMemory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a session: its arenas, where they take memory, and the regions that modules hear of.
 *
 * <p>Threading: thread-safe.
 */
public final class SessionArenas implements AutoCloseable {
    private final RegionTable table = new RegionTable();
    private final @Nullable LargePages largePages;
    private final RegionArena lasting;
    private final Set<RegionArena> open = ConcurrentHashMap.newKeySet();
    private volatile List<MemorySource> sources = List.of();
    private volatile Drain drain = (_, _) -> {};
    private volatile long drainNs;
    private volatile boolean closed;

    /** Waits until messages let go of memory. */
    @FunctionalInterface
    public interface Drain {
        /** Waits until no message uses memory of these regions, or the deadline. */
        void awaitUnused(List<Region> regions, long deadlineNs);
    }

    /** Memory on such pages, if there are any, where no source has better. */
    public SessionArenas(Optional<LargePages> largePages) {
        this.largePages = largePages.orElse(null);
        this.lasting = new RegionArena(this);
    }

    /** Takes memory from these sources from now on, if they have such: from the first one that has. */
    public void takeFrom(List<MemorySource> found) {
        sources = List.copyOf(found);
    }

    /** What modules see of it. */
    public SessionMemory memory() {
        return table;
    }

    /** The arena that lasts as long as the session; its user cannot close it. */
    public RegionArena lasting() {
        return lasting;
    }

    /** How, and for how long at most, it is waited for those who use memory that is about to be freed. */
    public void drainBy(Drain how, long timeoutNs) {
        drain = how;
        drainNs = timeoutNs;
    }

    /** An arena for its user to close; the session closes it at the latest. */
    public RegionArena newArena() {
        RegionArena made = new RegionArena(this);
        open.add(made);
        return made;
    }

    /**
     * The arena as one that takes memory which peers can reach.
     *
     * @throws IllegalArgumentException if it is none of this session
     */
    public RegionArena own(Arena arena) {
        if (arena instanceof RegionArena own && own.isOf(this)) {
            return own;
        }
        throw new IllegalArgumentException(
                "memory that peers can reach is taken in an arena of the session: expected one of"
                        + " Session.newArena or Session.arena, found " + arena);
    }

    RegionTable table() {
        return table;
    }

    List<MemorySource> sources() {
        return sources;
    }

    @Nullable
    LargePages largePages() {
        return largePages;
    }

    /** Frees an arena's memory, once nothing uses it, or it has been waited for that for long enough. */
    void close(RegionArena arena) {
        if (closed) {
            return; // with the session
        }
        if (!arena.end(true)) {
            throw new IllegalStateException("Already closed");
        }
        long deadlineNs = System.nanoTime() + drainNs;
        try {
            drain.awaitUnused(arena.regions(), deadlineNs);
        } catch (RuntimeException e) {
            arena.end(false);
            throw e;
        }
        arena.free(deadlineNs);
        open.remove(arena);
    }

    /** Frees all memory, which nothing may use any more. */
    @Override
    public void close() {
        closed = true;
        lasting.end(true);
        open.forEach(arena -> arena.end(true));
        List<RuntimeException> failures = new ArrayList<>();
        for (RegionArena arena : open) {
            free(arena, failures);
        }
        open.clear();
        free(lasting, failures);
        if (!failures.isEmpty()) {
            throw failures.getFirst();
        }
    }

    private static void free(RegionArena arena, List<RuntimeException> failures) {
        try {
            arena.free(System.nanoTime());
        } catch (IllegalStateException e) {
            failures.add(e);
        }
    }
}
