package io.madeleine.pmm.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * Moves bytes out of the memory of another process of this host with a single copy: a system call, or a device to which
 * copies are handed. A network finds the engines at run time with {@link java.util.ServiceLoader} and works without any.
 *
 * <p>Threading: thread-safe.
 */
public interface CopyEngine {
    /** What the engine is called in configuration, logs and reports. */
    String name();

    /** Whether it can be used in this process, as far as can be told without another; never throws. */
    Availability availability();

    /**
     * Why the system keeps processes of one user from reading each other, as far as that can be told without native access;
     * empty if nothing speaks against it. Who starts processes asks it, to grant native access only where it is of use.
     */
    default Optional<String> forbidden() {
        return Optional.empty();
    }

    /** The names of the Java modules that need native access for it, also where they have not got it. */
    List<String> nativeModules();

    /**
     * Prepares to read the memory of a process; whether that is permitted shows at the first read.
     *
     * @param pid the process, as this one's system counts
     * @param arena what the reader's own memory is allocated in; the reader must not be used after its end
     * @throws IllegalStateException if the engine is not available
     */
    Reader open(long pid, Arena arena);

    /**
     * Reads from one process. No call allocates.
     *
     * <p>Threading: one thread at a time.
     */
    interface Reader {
        /**
         * An answer of {@link #read}: what lies at the address is not there, or no ordinary memory. It concerns these bytes
         * alone; with any other failure nothing of the process can be read.
         */
        long BAD_ADDRESS = -14;

        /**
         * Copies bytes from the other process, until all are there or a page is not to be had.
         *
         * <p>Ownership: the target is kept open during the call; who closes its arena meanwhile gets an exception.
         *
         * @param address where they lie in the other process
         * @param target native memory that can be written
         * @param offset where they go in the target
         * @param bytes how many, above 0
         * @return how many were copied, above 0, or a negative code: see {@link #explain}
         * @throws IllegalStateException if the target has been freed ({@link WrongThreadException} if it is another
         *     thread's)
         */
        long read(long address, MemorySegment target, long offset, long bytes);

        /** What a negative answer of {@link #read} means and what mends it, as a clause. */
        String explain(long failure);
    }
}
