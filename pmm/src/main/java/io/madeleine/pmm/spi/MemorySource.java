package io.madeleine.pmm.spi;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * An adapter's source of memory that its peers can access. The session makes what it returns a {@link Region} and tells
 * all modules, this one included, before anybody can use it.
 *
 * <p>Threading: thread-safe.
 */
public interface MemorySource {
    /**
     * Allocates memory for message blocks. The source returns memory only where that makes messages faster, and only
     * while it leaves enough room for others.
     *
     * <p>Ownership: the memory belongs to the arena. It is zeroed and begins at a page boundary.
     *
     * @param bytes how many, above 0
     * @return empty if the source has none of this size
     */
    Optional<MemorySegment> allocate(long bytes, Arena arena);

    /**
     * The smallest message block for which {@link #allocate} returns memory. The session cuts several blocks of one
     * arena out of one region if they are at least this large but not large; by default it takes a region for each
     * block.
     */
    default long commonFromBytes() {
        return Long.MAX_VALUE;
    }

    /**
     * Whether {@link #allocateShared} returns ordinary memory: this network's peers can access what any source has
     * returned. The session prefers other sources, so that peers of their networks can access the memory too.
     */
    default boolean takesAnyMemory() {
        return false;
    }

    /**
     * Allocates memory of any size that peers can access by {@link RemoteMemory}. The session cuts several small blocks
     * of one arena out of one region.
     *
     * <p>Ownership: the memory belongs to the arena. It is zeroed and begins at a page boundary.
     *
     * @param bytes how many, above 0
     * @throws IOException if there is none; the message says why and what mends it
     */
    MemorySegment allocateShared(long bytes, Arena arena) throws IOException;
}
