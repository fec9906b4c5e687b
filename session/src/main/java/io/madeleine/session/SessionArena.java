package io.madeleine.session;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.LargePages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * The arena of a session: shared, at least 64-byte aligned, closed by the session only. Blocks are where peers
 * can read them if an adapter has such memory; others of a large page or more are on such pages where the system has them.
 *
 * <p>Threading: thread-safe.
 */
final class SessionArena implements Arena {
    private static final long ALIGNMENT_BYTES = 64;
    private static final long PAGE_BYTES = 4096;

    private final Arena shared = Arena.ofShared();
    private volatile List<Adapter> adapters = List.of();
    private final Optional<LargePages> largePages =
            ServiceLoader.load(LargePages.class, SessionArena.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .filter(pages -> pages.availability().on())
                    .findFirst();

    /** Takes large blocks from these adapters, if they have such memory. */
    void takeFrom(List<Adapter> sources) {
        adapters = List.copyOf(sources);
    }

    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
        for (Adapter adapter : adapters) {
            Optional<MemorySegment> memory =
                    byteAlignment <= PAGE_BYTES ? adapter.allocate(byteSize, shared) : Optional.empty();
            if (memory.isPresent()) {
                return memory.get();
            }
        }
        LargePages pages = largePages.orElse(null);
        if (pages != null && byteSize >= pages.pageBytes() && byteAlignment <= pages.pageBytes()) {
            Optional<MemorySegment> memory = pages.allocate(byteSize, shared);
            if (memory.isPresent()) {
                return memory.get();
            }
        }
        return shared.allocate(byteSize, Math.max(byteAlignment, ALIGNMENT_BYTES));
    }

    @Override
    public MemorySegment.Scope scope() {
        return shared.scope();
    }

    /** Refuses: other parts of the program may use memory of the session. */
    @Override
    public void close() {
        throw new UnsupportedOperationException(
                "the arena of a session is closed by Session.close(); for memory of your own lifetime use another arena");
    }

    void closeForGood() {
        shared.close();
    }
}
