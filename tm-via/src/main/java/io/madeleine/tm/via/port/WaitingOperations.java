package io.madeleine.tm.via.port;

/**
 * The operations that a provider completes in the order in which they began, and that wait for other processes.
 *
 * <p>Threading: no other thread polls the endpoint meanwhile.
 */
public interface WaitingOperations {
    /** There is none. */
    long NONE = 0;

    /** Unknown, because this version of the provider is unknown. */
    long UNKNOWN = -1;

    /** The context of the operation that the provider completes next; or {@link #NONE}, or {@link #UNKNOWN}. */
    long oldest();

    /**
     * Makes the operation that the provider completes next fail at the next poll.
     *
     * @param context of that operation
     * @return whether that was possible
     */
    boolean fail(long context);
}
