package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * Exported memory of another process, attached for one-sided access.
 *
 * <p>An operation checks its arguments before it begins. One that it refuses has no effect and calls no completion. It
 * throws a {@link RemoteMemoryException} if a range lies outside the memory, a word is not aligned, the memory is
 * read-only, or the attachment is closed, or if the network cannot update words. It reports every later error to its
 * completion.
 *
 * <p>The caller's own segment may lie on the heap, and the source of a put may be read-only. An operation refuses a
 * wrong segment with the exceptions of {@link MemorySegment}: {@link IndexOutOfBoundsException} if the range lies
 * outside it, {@link IllegalArgumentException} if the target of a get is read-only, {@link IllegalStateException} if it
 * is freed, and {@link WrongThreadException} if it belongs to another thread. Where operations are not {@linkplain
 * RemoteMemoryCapabilities#immediate() immediate}, it may not belong to the caller's thread either. The caller keeps
 * the segment alive until the completion. If it is freed earlier, an operation that needs it again fails with {@link
 * RemoteMemoryException.Kind#CLOSED}; an immediate one throws.
 *
 * <p>Threading: thread-safe.
 */
public interface AttachedMemory extends AutoCloseable {
    /** The length of the memory in bytes. */
    long bytes();

    /**
     * Writes {@code bytes} bytes from the source to the attached memory.
     *
     * <p>Ownership: the source is lent until the completion.
     *
     * @param at the target offset in the attached memory
     */
    void put(MemorySegment source, long sourceOffset, long at, long bytes, RemoteCompletion completion);

    /**
     * Reads {@code bytes} bytes from the attached memory into the target.
     *
     * <p>Ownership: the target is lent until the completion.
     *
     * @param at the source offset in the attached memory
     */
    void get(long at, MemorySegment target, long targetOffset, long bytes, RemoteCompletion completion);

    /**
     * Adds to a word atomically; the completion receives the word's old value.
     *
     * @param at an offset whose address in the owner's memory is a multiple of {@code width}
     * @param width 4 or 8 bytes
     */
    void fetchAdd(long at, int width, long addend, RemoteCompletion completion);

    /**
     * Sets a word atomically if it has the expected value; the completion receives the word's old value.
     *
     * @param at as for {@link #fetchAdd}
     * @param width 4 or 8 bytes
     */
    void compareAndSet(long at, int width, long expected, long value, RemoteCompletion completion);

    /** Detaches from the memory; operations under way complete or fail. Idempotent. */
    @Override
    void close();
}
