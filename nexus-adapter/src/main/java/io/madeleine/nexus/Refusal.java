package io.madeleine.nexus;

/**
 * Requests of this process that another one has not carried out.
 *
 * @param rank who refused: a rank, or the number of a context of another session
 * @param endpoint the number of the endpoint
 * @param handler the number of the handler's name
 * @param reason why
 * @param count how many, since the last notice of this kind
 */
public record Refusal(int rank, int endpoint, int handler, Reason reason, long count) {
    /** Why a request was not carried out. */
    public enum Reason {
        /**
         * The endpoint is unknown there, or has been closed; or it is of another session, and this process was never given a
         * startpoint to it.
         */
        NO_SUCH_ENDPOINT,
        /** The endpoint has no handler of that name. */
        NO_SUCH_HANDLER,
        /** As many threaded requests as {@link ContextOptions#maxRunning} allows are being carried out. */
        OVERLOADED,
        /** The context is being closed. */
        CLOSING
    }

    /** Told of requests that were refused elsewhere. */
    @FunctionalInterface
    public interface Listener {
        /** Called from the receiving thread; must not wait. */
        void refused(Refusal refusal);
    }

    @Override
    public String toString() {
        return "rank " + rank + " refused " + count + " requests to endpoint " + Names.endpoint(endpoint) + ", handler "
                + Names.handler(handler) + ": " + reason;
    }
}
