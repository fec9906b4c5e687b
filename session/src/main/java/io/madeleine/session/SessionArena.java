package io.madeleine.session;

import io.madeleine.pmm.spi.LargePages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * The arena of a session: shared, at least 64-byte aligned, closed by the session only. Blocks of a large page or more
 * are on such pages where the system has them.
 *
 * <p>Threading: thread-safe.
 */
final class SessionArena implements Arena {
    private static final long ALIGNMENT_BYTES = 64;

    private final Arena shared = Arena.ofShared();
    private final Optional<LargePages> largePages =
            ServiceLoader.load(LargePages.class, SessionArena.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .filter(pages -> pages.availability().on())
                    .findFirst();

    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
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
