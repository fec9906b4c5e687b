package io.madeleine.nexus;

/** Told of what handlers of a context throw. */
@FunctionalInterface
public interface HandlerFailureListener {
    /**
     * A handler has failed; called by the thread that ran it, and to return soon.
     *
     * @param endpoint where it was run
     * @param handler the name it was added by
     * @param sender who made the request: a rank, or the number of a context of another session
     * @param cause what it threw
     */
    void handlerFailed(Endpoint endpoint, String handler, int sender, Throwable cause);
}
