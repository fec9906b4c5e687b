package io.madeleine.session;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The arena of a session: shared, at least 64-byte aligned, closed by the session only.
 *
 * <p>Threading: thread-safe.
 */
final class SessionArena implements Arena {
    private static final long ALIGNMENT_BYTES = 64;

    private final Arena shared = Arena.ofShared();

    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
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
