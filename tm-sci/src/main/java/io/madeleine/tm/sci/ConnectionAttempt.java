package io.madeleine.tm.sci;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SessionDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A request for a connection. The initiator offers a pair segment at once; the acceptor waits for this file to appear
 * and maps it. The segment carries the {@linkplain SegmentHandshake handshake} and then becomes the connection.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class ConnectionAttempt {
    /** How often the acceptor looks into the file system. */
    private static final long LOOK_INTERVAL_NS = 100_000;

    final SciAdapter adapter;
    final SciChannel channel;
    final PendingConnection wanted;
    final ConnectionRequest request;
    final SciPeer peer;
    final int slot;
    private final Path offer;
    private @Nullable SegmentHandshake line;
    private long nextLookNs = System.nanoTime();

    /**
     * Prepares a connection, which {@link #begin} requests. An initiator takes the memory now.
     *
     * @throws NoRoomException if there is not enough memory
     */
    ConnectionAttempt(SciAdapter adapter, SciChannel channel, PendingConnection wanted, SciPeer peer, int slot) {
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
            line = SegmentHandshake.offer(this, offer);
        } else {
            offer = directory.pairFile(peer.stem(), own, channel.hash(), SessionDirectory.PAIR);
        }
    }

    /** Prefixes a reason with the channel and the two processes, for error messages. */
    String describe(String what) {
        return "no connection of channel \"" + channel.name() + "\" by sci from process " + adapter.self()
                + " to process " + request.peer() + ": " + what;
    }

    /** Requests the connection. */
    CompletableFuture<ProtocolConnection> begin(ConnectionManager manager) {
        manager.request(wanted);
        wanted.note("process " + request.peer() + " has not dialled the doorbell of process " + adapter.self()
                + " yet, or has not " + (request.initiator() ? "mapped " : "offered ") + offer + " yet");
        SegmentHandshake offered = line;
        if (offered != null) {
            offered.start(manager.call(wanted, offered, System.nanoTime()));
        }
        return wanted.future();
    }

    /**
     * Takes the next steps that are possible; does nothing if the last look was a moment ago and the step is not
     * urgent.
     *
     * @return whether the call is over
     */
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
                SegmentHandshake mapped = SegmentHandshake.map(this, offer);
                line = mapped;
                mapped.start(adapter.connections().accept(mapped, nowNs));
            } catch (IOException | MadeleineException e) {
                boolean _ = wanted.fail("cannot map " + offer + ": " + e.getMessage(), e);
            }
        }
        SegmentHandshake mapped = line;
        if (mapped != null) {
            mapped.feed(nowNs);
        }
    }

    /**
     * The handshake failed. A refusal fails the request; without one, an acceptor waits for the initiator's next offer.
     */
    void lineFailed(String reason, boolean refused) {
        if (refused || request.initiator()) {
            cancel(reason);
        } else {
            undo(reason);
        }
    }

    /** Fails the request and releases what it has. */
    void cancel(String reason) {
        boolean _ = wanted.fail(reason);
        undo(reason);
    }

    /** Fails the request if the segment's file was cut short; returns whether this was so. */
    boolean cancelIfCut() {
        SegmentHandshake mapped = line;
        boolean cut = mapped != null && !mapped.isWhole();
        if (cut) {
            cancel("the file of its shared memory was cut short by somebody");
        }
        return cut;
    }

    /** Whether the request is done; if so, releases what did not become a connection. */
    boolean isOver() {
        if (wanted.isDone()) {
            undo("the request was withdrawn");
        }
        return wanted.isDone();
    }

    /** Releases the segment, unless it has become a connection, and deletes a file that the peer has not mapped. */
    void undo(String reason) {
        SegmentHandshake open = line;
        if (open != null && !open.isConnection()) {
            line = null;
            open.close(reason);
        }
        if (request.initiator() ? open != null && !open.isMapped() : peer.isGone()) {
            SegmentHandshake.delete(offer); // An initiator that was killed cannot delete its file.
        }
    }

    /** Whether the call has made a connection. */
    boolean isMade() {
        SegmentHandshake made = line;
        return made != null && made.isConnection();
    }
}
