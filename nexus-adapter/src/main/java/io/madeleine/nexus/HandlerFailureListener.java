package io.madeleine.nexus;

/** Listens for exceptions that handlers of a context throw. */
@FunctionalInterface
public interface HandlerFailureListener {
    /**
     * Called by the thread that ran a failed handler; it must return soon.
     *
     * @param endpoint the endpoint of the handler
     * @param handler the name of the handler
     * @param sender the node that sent the request: a rank, or the number of a context of another session
     * @param cause the exception that the handler has thrown
     */
    void handlerFailed(Endpoint endpoint, String handler, int sender, Throwable cause);
}
