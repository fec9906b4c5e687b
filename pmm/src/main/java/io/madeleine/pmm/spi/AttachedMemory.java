package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * Memory of another process, as far as that has exported it. What an operation finds wrong before it begins (a place outside, a
 * word that is not aligned, a put where only reading is allowed, a closed attachment) it throws as {@link
 * RemoteMemoryException}, without a completion; all else is told to its completion. Memory of the caller's that is too short, cannot
 * be written, or is freed meanwhile is an error of {@link MemorySegment}, thrown by whoever touches it; the caller sees to it that
 * it lasts.
 *
 * <p>Threading: thread-safe.
 */
public interface AttachedMemory extends AutoCloseable {
    /** How long it is. */
    long bytes();

    /**
     * Writes to it.
     *
     * <p>Ownership: the source is lent until the completion.
     *
     * @param at where to, in the attached memory
     */
    void put(MemorySegment source, long sourceOffset, long at, long bytes, RemoteCompletion completion);

    /**
     * Reads from it.
     *
     * <p>Ownership: the target is lent until the completion.
     *
     * @param at where from, in the attached memory
     */
    void get(long at, MemorySegment target, long targetOffset, long bytes, RemoteCompletion completion);

    /**
     * Adds to a word and tells what it was.
     *
     * @param at a multiple of {@code width}, counted from address 0 of the owner
     * @param width 4 or 8 bytes
     */
    void fetchAdd(long at, int width, long addend, RemoteCompletion completion);

    /**
     * Sets a word if it is what is expected, and tells what it was.
     *
     * @param at as for {@link #fetchAdd}
     * @param width 4 or 8 bytes
     */
    void compareAndSet(long at, int width, long expected, long value, RemoteCompletion completion);

    /** Lets go of it; operations under way are completed or fail. Idempotent. */
    @Override
    void close();
}
