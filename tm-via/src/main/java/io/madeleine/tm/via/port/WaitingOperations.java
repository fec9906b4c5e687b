package io.madeleine.tm.via.port;

/**
 * The operations that a provider completes in the order in which they began, and that wait for other processes.
 *
 * <p>Threading: no other thread polls the endpoint meanwhile.
 */
public interface WaitingOperations {
    /** There is none. */
    long NONE = 0;

    /** Nobody can tell: this version of the provider is not known. */
    long UNKNOWN = -1;

    /** The context of the operation that is to be completed next; or {@link #NONE}, or {@link #UNKNOWN}. */
    long oldest();

    /**
     * Lets the operation that is to be completed next fail, at the next poll.
     *
     * @param context of that operation
     * @return whether that was possible
     */
    boolean fail(long context);
}
