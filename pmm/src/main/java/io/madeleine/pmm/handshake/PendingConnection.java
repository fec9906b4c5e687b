package io.madeleine.pmm.handshake;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection that this process wants: what was asked for, and what has become of it.
 *
 * <p>Threading: confined to who feeds the {@link ConnectionManager}; the future is its user's, who may cancel it.
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

    /** The channel that it is for. */
    public String channel() {
        return channel;
    }

    /** What was asked for. */
    public ConnectionRequest request() {
        return request;
    }

    /** Completes when the connection is made or given up. */
    public CompletableFuture<ProtocolConnection> future() {
        return future;
    }

    /** Whether it is made, given up or cancelled. */
    public boolean isDone() {
        return decided || future.isDone();
    }

    /** What went wrong last, or is waited for, as a clause: told if the deadline comes. */
    public void note(String what) {
        lastFailure = what;
    }

    String lastFailure() {
        return lastFailure;
    }

    /** It is made; if it is wanted no more, it is closed. */
    public void complete(ProtocolConnection connection) {
        decided = true;
        whenDone.accept(this);
        teller.execute(() -> {
            if (!future.complete(connection)) {
                connection.close();
            }
        });
    }

    /** It is given up. Returns whether that was news. */
    public boolean fail(String reason) {
        return fail(reason, null);
    }

    /** It is given up. Returns whether that was news. */
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
