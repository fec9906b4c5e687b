package io.madeleine.pmm.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Memory on pages larger than the default, so that a copy between address spaces looks up fewer pages. A session
 * allocates its large blocks there. It finds the source at run time with {@link java.util.ServiceLoader} and works
 * without one.
 *
 * <p>Threading: thread-safe.
 */
public interface LargePages {
    /** Whether this process can use large pages; never throws. */
    Availability availability();

    /** The size of a large page in bytes; a block below this size gains nothing. */
    long pageBytes();

    /**
     * Allocates zeroed memory that begins at a page boundary. The system decides, when the memory is touched, how much
     * of it lies on large pages.
     *
     * <p>Ownership: the memory belongs to the arena.
     *
     * @param bytes how many, above 0
     * @param arena its end frees the memory
     * @return the memory, or empty if the system has none
     * @throws IllegalStateException if the source is not available, or the arena is closed
     */
    Optional<MemorySegment> allocate(long bytes, Arena arena);
}
