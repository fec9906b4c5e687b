package io.madeleine.pmm.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * Copies bytes out of the memory of another process on this host in a single copy, by a system call or by a copy
 * device. A network finds engines at run time with {@link java.util.ServiceLoader} and works without one.
 *
 * <p>Threading: thread-safe.
 */
public interface CopyEngine {
    /** The engine's name in configuration, logs and reports. */
    String name();

    /** Whether this process can use the engine, as far as it can tell without a peer; never throws. */
    Availability availability();

    /**
     * Returns why the system forbids processes of one user to read each other's memory, as far as that shows without
     * native access; empty if nothing forbids it. A launcher asks this, so that it grants native access only where it
     * helps.
     */
    default Optional<String> forbidden() {
        return Optional.empty();
    }

    /** The Java modules that need native access for this engine, whether they have it or not. */
    List<String> nativeModules();

    /**
     * Prepares to read the memory of a process. The first read shows whether the system permits it.
     *
     * @param pid the process id, as this process sees it
     * @param arena the arena of the reader's own memory; do not use the reader after the arena is closed
     * @throws IllegalStateException if the engine is not available
     */
    Reader open(long pid, Arena arena);

    /**
     * Reads the memory of one process. Its calls allocate nothing.
     *
     * <p>Threading: one thread at a time.
     */
    interface Reader {
        /**
         * A result of {@link #read}: the address is not mapped, or is not ordinary memory. It concerns these bytes
         * only; after any other failure the reader can read nothing more of this process.
         */
        long BAD_ADDRESS = -14;

        /**
         * Copies bytes from the other process until all are copied or a page cannot be read.
         *
         * <p>Ownership: the target stays alive during the call; a thread that closes its arena meanwhile gets an
         * exception.
         *
         * @param address the source address in the other process
         * @param target writable native memory
         * @param offset the offset in the target
         * @param bytes how many bytes, above 0
         * @return how many bytes were copied, above 0, or a negative code: see {@link #explain}
         * @throws IllegalStateException if the target has been freed ({@link WrongThreadException} if it belongs to
         *     another thread)
         */
        long read(long address, MemorySegment target, long offset, long bytes);

        /** Explains a negative result of {@link #read}, and what mends it, as a clause. */
        String explain(long failure);
    }
}
