package io.madeleine.pmm.spi;

/**
 * Hears of the end of one operation on {@link AttachedMemory}, exactly once. The same object may serve operation after operation, so
 * that none allocates anything.
 *
 * <p>Threading: called by the thread that begins the operation, before that returns, or by the one that polls. Returns soon,
 * and does not wait or throw.
 */
public interface RemoteCompletion {
    /**
     * It is done: what was put is where the owner sees it, what was got is there.
     *
     * @param value of an operation on a word what the word was before; else 0
     */
    void completed(long value);

    /** It failed; of a put it is not known how much has arrived. */
    void failed(RemoteMemoryException failure);
}
