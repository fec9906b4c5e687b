package io.madeleine.nexus;

/**
 * Told of requests that were queued, since who made them did not wait, and that could not be sent by any method then. Who
 * waits in {@code rsr} or in a call gets an exception instead.
 */
@FunctionalInterface
public interface SendFailureListener {
    /**
     * A request is lost, or all that were queued for a connection over the wide area; from any thread, and soon to return.
     *
     * @param node where it was to go: a rank, or the number of a context of another session
     * @param cause why
     */
    void sendFailed(int node, RuntimeException cause);
}
