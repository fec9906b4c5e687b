package io.madeleine.nexus;

/** Code that a remote service request runs at its endpoint. */
@FunctionalInterface
public interface Handler {
    /**
     * Executes a request. An exception is logged, counted and passed to {@link Context#onHandlerFailure}; it ends this
     * request only.
     *
     * <p>Ownership: the request is valid during the call only. Values taken out of it belong to the handler.
     *
     * @param endpoint the endpoint that the request was sent to, with its local data
     * @param request the arguments
     */
    void handle(Endpoint endpoint, Request request) throws Exception;
}
