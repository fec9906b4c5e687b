package io.madeleine.pmm.handshake;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * This process's request for a connection, and its result.
 *
 * <p>Threading: confined to the thread that feeds the {@link ConnectionManager}; the future belongs to its user, who
 * may cancel it.
 */
public final class PendingConnection {
    private final String family;
    private final String channel;
    private final ConnectionRequest request;
    private final Executor teller;
    private final Consumer<PendingConnection> whenDone;
    private final CompletableFuture<ProtocolConnection> future = new CompletableFuture<>();
    private String lastFailure = "";
    private boolean decided;

    PendingConnection(
            String family,
            String channel,
            ConnectionRequest request,
            Executor teller,
            Consumer<PendingConnection> whenDone) {
        this.family = family;
        this.channel = channel;
        this.request = request;
        this.teller = teller;
        this.whenDone = whenDone;
    }

    /** The channel of the connection. */
    public String channel() {
        return channel;
    }

    /** The request. */
    public ConnectionRequest request() {
        return request;
    }

    /** Completes when the connection is made or the request fails. */
    public CompletableFuture<ProtocolConnection> future() {
        return future;
    }

    /** Whether the request is completed, failed or cancelled. */
    public boolean isDone() {
        return decided || future.isDone();
    }

    /**
     * Records the last failure, or what the request waits for, as a clause for the error text if the deadline comes.
     */
    public void note(String what) {
        lastFailure = what;
    }

    String lastFailure() {
        return lastFailure;
    }

    /** Completes the request; closes the connection if the request was cancelled. */
    public void complete(ProtocolConnection connection) {
        decided = true;
        whenDone.accept(this);
        teller.execute(() -> {
            if (!future.complete(connection)) {
                connection.close();
            }
        });
    }

    /** Fails the request; returns false if it was done already. */
    public boolean fail(String reason) {
        return fail(reason, null);
    }

    /** Fails the request with a cause; returns false if it was done already. */
    public boolean fail(String reason, @Nullable Throwable cause) {
        if (isDone()) {
            return false;
        }
        decided = true;
        whenDone.accept(this);
        String where = request.initiator() ? " at " + request.peerAddress() : "";
        String text = family + ": connection of channel \"" + channel + "\" with process " + request.peer() + where
                + " failed (this side " + (request.initiator() ? "calls" : "accepts") + "): " + reason;
        SessionException failure = cause == null ? new SessionException(text) : new SessionException(text, cause);
        teller.execute(() -> future.completeExceptionally(failure));
        return true;
    }
}
