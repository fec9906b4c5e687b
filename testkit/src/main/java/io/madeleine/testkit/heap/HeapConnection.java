package io.madeleine.testkit.heap;

import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection.
 *
 * <p>Threading: as {@link ProtocolConnection} says.
 */
final class HeapConnection implements ProtocolConnection {
    private final HeapAdapter adapter;
    private final HeapAdapter peerAdapter;
    private final ProcessIdentity peer;
    private final HeapRing out;
    private final HeapRing in;
    private final HeapLink link;
    private volatile @Nullable ConnectionListener listener;
    private volatile boolean interested = true;
    private volatile boolean closed;
    private boolean toldLoss;

    HeapConnection(HeapAdapter adapter, HeapAdapter peerAdapter, ConnectionRequest request, HeapRing out, HeapRing in) {
        this.adapter = adapter;
        this.peerAdapter = peerAdapter;
        this.peer = request.peer();
        this.out = out;
        this.in = in;
        this.link = new HeapLink(this, request.modules().getFirst(), out, in);
    }

    @Override
    public ProcessIdentity peer() {
        return peer;
    }

    @Override
    public boolean bidirectional() {
        return true;
    }

    @Override
    public List<TransmissionLink> links() {
        return List.of(link);
    }

    @Override
    public void start(ConnectionListener wanted) {
        listener = wanted;
        adapter.wake();
    }

    @Override
    public void receiveInterest(boolean wanted) {
        interested = wanted;
    }

    @Override
    public void finish() {
        out.hasFinished = true;
        out.hasEnded = true;
        wakePeer();
    }

    @Override
    public void close() {
        closed = true;
        out.hasEnded = true;
        in.isClosed = true;
        wakePeer();
        adapter.forget(this);
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether sending is in vain: one of the two ends is closed. */
    boolean isOver() {
        return closed || out.isClosed;
    }

    void wakePeer() {
        peerAdapter.wake();
    }

    /** What the leader does in each round: tells of what has come, and of the end. */
    int poll() {
        ConnectionListener told = listener;
        if (told == null || closed) {
            return 0;
        }
        boolean ended = in.hasEnded;
        int work = interested && link.hasNews() ? told.onReadable() : 0;
        if (ended && !toldLoss) {
            toldLoss = true;
            told.onLost(in.hasFinished, in.hasFinished ? "it has finished" : "its end was closed");
            work++;
        }
        return work;
    }

    /** Whether the engine must not sleep: there is something to tell, or room for a sender that was told to wait. */
    boolean hasNews() {
        return listener != null
                && !closed
                && ((in.hasEnded && !toldLoss)
                        || (interested && link.hasNews())
                        || (out.isAwaited && (out.hasRoom() || isOver())));
    }
}
