package io.madeleine.tm.sci;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A connection that is being made, seen from one side: {@link Offer} makes the pair segment, {@link Acceptance} maps it.
 *
 * <p>Threading: guarded by the adapter's lock, but for {@link #complete()}, which calls strangers and so is called
 * outside of it.
 */
abstract class Handshake {
    /** How often the file system is looked at. */
    private static final long LOOK_INTERVAL_NS = 100_000;

    private static final String CUT_SHORT = "the file of its shared memory was cut short by somebody";

    final SciAdapter adapter;
    final SciChannel channel;
    final ConnectionRequest request;
    final SciPeer peer;
    final int slot;
    private final CompletableFuture<ProtocolConnection> future = new CompletableFuture<>();
    private @Nullable SciConnection connection;
    private @Nullable MadeleineException failure;
    private long nextLookNs;

    Handshake(SciAdapter adapter, SciChannel channel, ConnectionRequest request, SciPeer peer, int slot) {
        this.adapter = adapter;
        this.channel = channel;
        this.request = request;
        this.peer = peer;
        this.slot = slot;
        this.nextLookNs = System.nanoTime();
    }

    /** Goes on if it can; the answer, or the lack of one, is recorded. */
    abstract void tryStep();

    /** Takes back what has been made. */
    abstract void undo();

    /** Whether all of its memory is still there. */
    boolean isWhole() {
        return true;
    }

    /** Gives it up if its memory was cut short; whether that is so. */
    final boolean isCutOff() {
        if (isDecided() || isWhole()) {
            return false;
        }
        cancel(CUT_SHORT);
        return true;
    }

    /** What this side waits for, for the message of a deadline that has passed. */
    abstract String awaited();

    /** Takes a step if it is time; returns whether that ended it. */
    final boolean step(long nowNs, boolean urgent) {
        if (!urgent && nextLookNs - nowNs > 0) {
            return false;
        }
        nextLookNs = nowNs + LOOK_INTERVAL_NS;
        try {
            if (peer.isGone()) {
                throw exception("its process ended");
            }
            tryStep();
        } catch (MadeleineException e) {
            failure = e;
        } catch (InternalError e) {
            if (isWhole()) {
                throw e;
            }
            failure = exception(CUT_SHORT);
        }
        if (!isDecided() && request.deadlineNs() - System.nanoTime() <= 0) {
            failure = exception(awaited() + ", and the time for that is over");
        }
        if (failure != null) {
            undo();
        }
        return isDecided();
    }

    private boolean isDecided() {
        return connection != null || failure != null;
    }

    final boolean hasFailed() {
        return failure != null;
    }

    /** Gives it up. */
    final void cancel(String reason) {
        if (!isDecided()) {
            failure = exception(reason);
            undo();
        }
    }

    final void succeed(PairSegment segment) {
        connection = adapter.connected(this, segment);
    }

    final SessionException exception(String what) {
        return new SessionException(describe(what));
    }

    final SessionException exception(String what, Exception cause) {
        return new SessionException(describe(what), cause);
    }

    final NoRoomException noRoom(String what, Exception cause) {
        return new NoRoomException(describe(what), cause);
    }

    private String describe(String what) {
        return "no connection of channel \"" + channel.name() + "\" by sci from process " + adapter.self()
                + " to process " + request.peer() + ": " + what;
    }

    final String digestsDiffer(long theirs) {
        return "the selection tables of the two sides differ, digest " + Long.toHexString(request.tableDigest())
                + " here and " + Long.toHexString(theirs)
                + " there; give both the same transmission modules and thresholds (" + SciConfig.ROOT
                + ".short.max-block, .dma.from)";
    }

    final CompletableFuture<ProtocolConnection> future() {
        return future;
    }

    /** Tells who asked for the connection. */
    final void complete() {
        MadeleineException refused = failure;
        SciConnection made = connection;
        if (refused != null) {
            future.completeExceptionally(refused);
        } else if (made != null && !future.complete(made)) {
            made.close(); // it was cancelled
        }
    }
}
