package io.madeleine.pmm.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Memory on pages larger than the usual ones, of which a copy between address spaces has fewer to look up. A session takes
 * its large blocks there; it finds the source at run time with {@link java.util.ServiceLoader} and works without any.
 *
 * <p>Threading: thread-safe.
 */
public interface LargePages {
    /** Whether there are such pages for this process; never throws. */
    Availability availability();

    /** How large a page is: smaller blocks are better off elsewhere. */
    long pageBytes();

    /**
     * Takes memory that is zero and begins with a page. Whether all of it is on large pages is the system's to decide, as
     * it is touched.
     *
     * <p>Ownership: the arena's.
     *
     * @param bytes how many, above 0
     * @param arena what the memory is given back with
     * @return the memory, or nothing if the system has none
     * @throws IllegalStateException if the source is not available, or the arena is closed
     */
    Optional<MemorySegment> allocate(long bytes, Arena arena);
}
