package io.madeleine.nexus;

/**
 * Listens for requests that were queued, because their sender must not wait, and that then could not be sent by any
 * communication method. A thread that waits in {@code rsr} or in a call gets an exception instead.
 */
@FunctionalInterface
public interface SendFailureListener {
    /**
     * Called when one request is lost, or all those queued for a wide-area connection. Any thread may call it; it must
     * return soon.
     *
     * @param node the receiver: a rank, or the number of a context of another session
     * @param cause the reason
     */
    void sendFailed(int node, RuntimeException cause);
}
