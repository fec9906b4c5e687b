package io.madeleine.pmm.spi;

/**
 * Receives the result of one operation on {@link AttachedMemory}, exactly once. One object may serve many operations,
 * so that they allocate nothing.
 *
 * <p>Threading: called by the thread that begins the operation, before that call returns, or by the thread that polls.
 * Implementations return quickly, do not wait and do not throw.
 */
public interface RemoteCompletion {
    /**
     * The operation is complete: the owner can see what was put, and the target holds what was read.
     *
     * @param value for an operation on a word, the word's old value; otherwise 0
     */
    void completed(long value);

    /** The operation failed; how much of a put has arrived is unknown. */
    void failed(RemoteMemoryException failure);
}
