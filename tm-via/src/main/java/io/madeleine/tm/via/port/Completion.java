package io.madeleine.tm.via.port;

/**
 * Receives the completions of operations.
 *
 * <p>Threading: called by the thread that polls. Implementations return quickly, do not wait and do not throw.
 */
public interface Completion {
    /**
     * An operation is complete; its memory may be reused.
     *
     * @param tag the owner's number of the operation
     * @param bytes the length of a received message
     */
    void completed(int tag, long bytes);

    /**
     * An operation has failed; its memory may be reused.
     *
     * @param reason the provider's text, as a clause
     */
    void failed(int tag, int code, String reason);

    /** Whether the process to which the owner's operations go has ended. Called on the control path. */
    default boolean isPeerDead() {
        return false;
    }
}
