package io.madeleine.pmm.spi;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Where an adapter has memory that its peers can reach. What it gives becomes a {@link Region} of the session's before anybody
 * has it, and all modules hear of that, this one too.
 *
 * <p>Threading: thread-safe.
 */
public interface MemorySource {
    /**
     * Memory for blocks of messages: only where it pays to have them there, and only so much that others have room, too.
     *
     * <p>Ownership: the arena's. The memory is zero, and begins with a page.
     *
     * @param bytes how many, above 0
     * @return nothing if the source has none of this size
     */
    Optional<MemorySegment> allocate(long bytes, Arena arena);

    /**
     * The smallest block of messages that {@link #allocate} has memory for. Blocks from this size on that are not large are cut,
     * several of one arena, out of one stretch of such memory; by default each has a stretch of its own.
     */
    default long commonFromBytes() {
        return Long.MAX_VALUE;
    }

    /**
     * Memory of any size, to be exported to peers; small blocks of one arena are cut, several, out of one such stretch.
     *
     * <p>Ownership: the arena's. The memory is zero, and begins with a page.
     *
     * @param bytes how many, above 0
     * @throws IOException if there is none; the message says why, and what would mend it
     */
    MemorySegment allocateShared(long bytes, Arena arena) throws IOException;
}
