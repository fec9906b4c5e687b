package io.madeleine.nexus;

/** Told of what handlers of a context throw. */
@FunctionalInterface
public interface HandlerFailureListener {
    /** A handler has failed; from the thread that ran it, and soon to return. */
    void handlerFailed(Endpoint endpoint, String handler, int sender, Throwable cause);
}
