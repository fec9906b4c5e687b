package io.madeleine.nexus;

import io.madeleine.nexus.wire.Names;
import io.madeleine.nexus.wire.RequestLayout;

/**
 * A notice that another process has not executed requests of this one.
 *
 * @param rank the node that refused: a rank, or the number of a context of another session
 * @param endpoint the number of the endpoint; 0 if the notice is of several endpoints
 * @param handler the number of the handler's name; 0 if the notice is of several endpoints
 * @param reason the reason
 * @param count how many requests, since the last notice of this kind
 */
public record Refusal(int rank, int endpoint, int handler, Reason reason, long count) {
    /** In place of endpoint and handler; no endpoint and handler of a program have these numbers. */
    static final int SEVERAL = RequestLayout.SYSTEM_ENDPOINT;

    /** Why a request was not executed. */
    public enum Reason {
        /**
         * The endpoint does not exist there, or has been closed; or it belongs to another session, and this process was
         * never given a startpoint to it.
         */
        NO_SUCH_ENDPOINT,
        /** The endpoint has no handler of that name. */
        NO_SUCH_HANDLER,
        /**
         * The bound {@link ContextOptions#maxRunning}, or a bound of the executor, is reached; or no memory is left for
         * large arguments ({@link ContextOptions#maxReceivedBytes}); or one request has more of them than a quarter of
         * that bound, and would be refused again.
         */
        OVERLOADED,
        /** The context is being closed. */
        CLOSING,
        /** The small arguments have more bytes together than {@link ContextOptions#maxRequestBytes} allows there. */
        TOO_LARGE
    }

    /** Listens for refusals by other processes. */
    @FunctionalInterface
    public interface Listener {
        /** Called by the receiving thread; it must not wait. */
        void refused(Refusal refusal);
    }

    @Override
    public String toString() {
        String where = endpoint == SEVERAL && handler == SEVERAL
                ? "several endpoints"
                : "endpoint " + Names.endpoint(endpoint) + ", handler " + Names.handler(handler);
        String bounds = switch (reason) {
            case OVERLOADED ->
                " (ContextOptions.maxRunning, a bound of the executor, or ContextOptions.maxReceivedBytes, a"
                        + " quarter of which one request may take)";
            case TOO_LARGE -> " (ContextOptions.maxRequestBytes there)";
            default -> "";
        };
        return "rank " + rank + " refused " + count + " requests to " + where + ": " + reason + bounds;
    }
}
