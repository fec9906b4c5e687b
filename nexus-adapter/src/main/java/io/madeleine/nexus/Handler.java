package io.madeleine.nexus;

/** Code that a remote service request runs at its endpoint. */
@FunctionalInterface
public interface Handler {
    /**
     * Carries out a request. Whatever it throws is logged, counted and told to {@link Context#onHandlerFailure}; the
     * request is over then, and the next one follows.
     *
     * <p>Ownership: the request belongs to the call. What is taken out of it is the handler's.
     *
     * @param endpoint the endpoint that the request was sent to, with its local data
     * @param request the arguments
     */
    void handle(Endpoint endpoint, Request request) throws Exception;
}
