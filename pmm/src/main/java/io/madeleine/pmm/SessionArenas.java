package io.madeleine.pmm;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.LargePages;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.SessionMemory;
import java.lang.foreign.Arena;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a session: its arenas, their sources of memory, and the regions that modules see.
 *
 * <p>Threading: thread-safe.
 */
public final class SessionArenas implements AutoCloseable {
    private final RegionTable table = new RegionTable();
    private final @Nullable LargePages largePages;
    private final RegionArena lasting;
    private volatile @Nullable RegionArena kept;
    private final Set<RegionArena> open = ConcurrentHashMap.newKeySet();
    private volatile List<MemorySource> sources = List.of();
    private volatile Drain drain = (_, _) -> {};
    private volatile long drainNs;
    private volatile boolean closed;

    /** Waits until messages no longer use memory. */
    @FunctionalInterface
    public interface Drain {
        /** Waits until no message uses memory of these regions, or until the deadline. */
        void awaitUnused(List<Region> regions, long deadlineNs);
    }

    /** A session's memory, on these large pages if there are any and no source has better memory. */
    public SessionArenas(Optional<LargePages> largePages) {
        this.largePages = largePages.orElse(null);
        this.lasting = new RegionArena(this, Arena.ofShared());
        this.kept = new RegionArena(this, Arena.ofAuto());
    }

    /** Sets the sources of memory; an allocation uses the first one that has memory for it, those that take
     * {@linkplain MemorySource#takesAnyMemory any memory} last. */
    public void takeFrom(List<MemorySource> found) {
        sources = found.stream()
                .sorted(Comparator.comparing(MemorySource::takesAnyMemory))
                .toList();
    }

    /** The session's memory as modules see it. */
    public SessionMemory memory() {
        return table;
    }

    /** The arena that lasts as long as the session; users cannot close it. */
    public RegionArena lasting() {
        return lasting;
    }

    /**
     * The arena whose memory outlives the session: the collector frees it.
     *
     * @throws SessionException if the session is closed
     */
    public RegionArena kept() {
        RegionArena arena = kept;
        if (arena == null) {
            throw new SessionException("the session is closed");
        }
        return arena;
    }

    /** Sets how {@link RegionArena#close} waits for users of its memory, and the longest such wait. */
    public void drainBy(Drain how, long timeoutNs) {
        drain = how;
        drainNs = timeoutNs;
    }

    /** Makes an arena that its user closes; the session closes it at the latest. */
    public RegionArena newArena() {
        RegionArena made = new RegionArena(this, Arena.ofShared());
        open.add(made);
        return made;
    }

    /**
     * Casts an arena of this session, so that it can allocate memory that peers can access.
     *
     * @throws IllegalArgumentException if the arena does not belong to this session
     */
    public RegionArena own(Arena arena) {
        if (arena instanceof RegionArena own && own.isOf(this)) {
            return own;
        }
        throw new IllegalArgumentException(
                "memory that peers can reach is taken in an arena of the session: expected one of"
                        + " Session.newArena or Session.arena, found " + arena);
    }

    /** Whether users cannot close this arena. */
    boolean isOfSession(RegionArena arena) {
        return arena == lasting || arena == kept;
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

    /** Frees an arena's memory once nothing uses it, or when the longest wait is over. */
    void close(RegionArena arena) {
        if (closed) {
            return; // the session frees it
        }
        if (!arena.end(true)) {
            throw new IllegalStateException("Already closed");
        }
        long deadlineNs = System.nanoTime() + drainNs;
        try {
            drain.awaitUnused(arena.regions(), deadlineNs);
        } catch (RuntimeException | Error e) {
            boolean _ = arena.end(false); // may be closed again
            throw e;
        }
        try {
            arena.free(deadlineNs);
        } catch (IllegalStateException e) { // a system call uses the memory still
            boolean _ = arena.end(false);
            throw e;
        }
        open.remove(arena);
    }

    /** Frees all memory; nothing may use it any more. */
    @Override
    public void close() {
        closed = true;
        lasting.end(true);
        open.forEach(arena -> arena.end(true));
        Attempts steps = new Attempts();
        open.forEach(arena -> steps.take(() -> arena.free(System.nanoTime())));
        open.clear();
        steps.take(() -> lasting.free(System.nanoTime()));
        RegionArena outliving = kept;
        if (outliving != null) {
            outliving.end(true);
            steps.take(outliving::letGo);
            kept = null; // the collector may free what nothing else refers to
        }
        steps.rethrow();
    }
}
