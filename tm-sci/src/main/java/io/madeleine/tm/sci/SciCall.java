package io.madeleine.tm.sci;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A connection that this process wants. The initiator's offers a pair segment from the beginning, the acceptor's looks for that;
 * the segment is the {@linkplain SciLine line} of their handshake, and then the connection.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class SciCall {
    /** How often the file system is looked at. */
    private static final long LOOK_INTERVAL_NS = 100_000;

    final SciAdapter adapter;
    final SciChannel channel;
    final PendingConnection wanted;
    final ConnectionRequest request;
    final SciPeer peer;
    final int slot;
    private final Path offer;
    private @Nullable SciLine line;
    private long nextLookNs = System.nanoTime();

    /**
     * Of a connection that {@link #begin} asks for; an initiator's has its memory from now on.
     *
     * @throws NoRoomException if there is none
     */
    SciCall(SciAdapter adapter, SciChannel channel, PendingConnection wanted, SciPeer peer, int slot) {
        this.adapter = adapter;
        this.channel = channel;
        this.wanted = wanted;
        this.request = wanted.request();
        this.peer = peer;
        this.slot = slot;
        SessionDirectory directory = adapter.directory();
        FileStem own = directory.stem();
        if (request.initiator()) {
            offer = directory.pairFile(own, peer.stem(), channel.hash(), SessionDirectory.PAIR);
            line = SciLine.offer(this, offer);
        } else {
            offer = directory.pairFile(peer.stem(), own, channel.hash(), SessionDirectory.PAIR);
        }
    }

    /** Whom it is between, for messages. */
    String describe(String what) {
        return "no connection of channel \"" + channel.name() + "\" by sci from process " + adapter.self()
                + " to process " + request.peer() + ": " + what;
    }

    /** Asks for it. */
    CompletableFuture<ProtocolConnection> begin(ConnectionManager manager) {
        manager.want(wanted);
        wanted.note("process " + request.peer() + " has not dialled the bell of process " + adapter.self() + ", or not "
                + (request.initiator() ? "mapped " : "offered ") + offer);
        SciLine offered = line;
        if (offered != null) {
            offered.start(manager.call(wanted, offered, System.nanoTime()));
        }
        return wanted.future();
    }

    /** Goes on if it is time and it can; returns whether it is over. */
    boolean step(long nowNs, boolean urgent) {
        if (!wanted.isDone() && (urgent || nextLookNs - nowNs <= 0)) {
            nextLookNs = nowNs + LOOK_INTERVAL_NS;
            look(nowNs);
        }
        return isOver();
    }

    private void look(long nowNs) {
        try {
            if (peer.isGone()) {
                cancel("its process ended");
            } else if (peer.hasBell()) {
                read(nowNs);
            }
        } catch (InternalError e) {
            if (!cancelIfCut()) {
                throw e;
            }
        }
    }

    private void read(long nowNs) {
        if (line == null && Files.exists(offer)) {
            try {
                SciLine mapped = SciLine.map(this, offer);
                line = mapped;
                mapped.start(adapter.connections().accept(mapped, nowNs));
            } catch (IOException | MadeleineException e) {
                boolean _ = wanted.fail("cannot map " + offer + ": " + e.getMessage(), e);
            }
        }
        SciLine mapped = line;
        if (mapped != null) {
            mapped.feed(nowNs);
        }
    }

    /** Its line has come to nothing: an acceptor waits for the next offer, if nobody has refused. */
    void lineFailed(String reason, boolean refused) {
        if (refused || request.initiator()) {
            cancel(reason);
        } else {
            undo(reason);
        }
    }

    /** Gives it up. */
    void cancel(String reason) {
        boolean _ = wanted.fail(reason);
        undo(reason);
    }

    /** Gives it up if its memory was cut short by somebody; whether that is so. */
    boolean cancelIfCut() {
        SciLine mapped = line;
        boolean cut = mapped != null && !mapped.isWhole();
        if (cut) {
            cancel("the file of its shared memory was cut short by somebody");
        }
        return cut;
    }

    /** Whether it is made or given up; then nothing is left of what was made for nothing. */
    boolean isOver() {
        if (wanted.isDone()) {
            undo("it is not wanted any more");
        }
        return wanted.isDone();
    }

    /** Lets go of what has been made, unless that is a connection. */
    void undo(String reason) {
        SciLine open = line;
        if (open != null && !open.isConnection()) {
            line = null;
            open.close(reason);
        }
        if (request.initiator() ? open != null && !open.isMapped() : peer.isGone()) {
            SciLine.delete(offer); // who was killed cannot
        }
    }

    /** Whether a connection has come of it. */
    boolean isMade() {
        SciLine made = line;
        return made != null && made.isConnection();
    }
}
