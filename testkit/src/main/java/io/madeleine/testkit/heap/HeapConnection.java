package io.madeleine.testkit.heap;

import io.madeleine.pmm.handshake.PolledConnection;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: two pipes.
 *
 * <p>Threading: as {@link ProtocolConnection}.
 */
final class HeapConnection extends PolledConnection {
    private final HeapAdapter peerAdapter;
    private final HeapPipe out;
    private final HeapPipe in;
    private volatile @Nullable HeapLink link;
    private volatile boolean closed;

    HeapConnection(HeapAdapter adapter, HeapAdapter peerAdapter, HeapPipe out, HeapPipe in) {
        super(adapter);
        this.peerAdapter = peerAdapter;
        this.out = out;
        this.in = in;
    }

    // ---- PolledConnection as a line: frames of the handshake

    @Override
    public String remote() {
        return peerAdapter.address();
    }

    @Override
    public void send(byte[] frame) {
        out.put(frame);
        wakePeer();
    }

    @Override
    protected @Nullable ByteBuffer takeFrame() {
        return in.takeFrame();
    }

    @Override
    protected List<TransmissionLink> openLinks(ConnectionRequest made) {
        HeapLink opened = new HeapLink(this, made.modules().getFirst(), out, in);
        link = opened;
        return List.of(opened);
    }

    // ---- PolledConnection as a connection: packets

    @Override
    protected boolean hasPackets() {
        HeapLink opened = link;
        return opened == null ? in.hasBytes() : opened.hasWork();
    }

    @Override
    protected boolean hasEnded() {
        return in.hasEnded;
    }

    @Override
    protected boolean hasFinished() {
        return in.hasFinished;
    }

    @Override
    protected boolean hasRoomAgain() {
        return out.isAwaited && (out.hasRoom() || isOver());
    }

    @Override
    protected boolean isClosed() {
        return closed;
    }

    /** Whether sending is pointless: one of the two ends is closed. */
    boolean isOver() {
        return closed || out.isClosed;
    }

    void wakePeer() {
        peerAdapter.wake();
    }

    @Override
    public String seenOfLoss() {
        return out.isClosed ? "its end was closed" : "";
    }

    @Override
    public void finish() {
        out.hasFinished = true;
        out.hasEnded = true;
        wakePeer();
    }

    /** The peer sees an end without a finish; packets of which a part is missing stay incomplete. */
    @Override
    public void giveUp() {
        closed = true;
        out.hasEnded = true;
        in.isClosed = true;
        wakePeer();
    }

    @Override
    public void close() {
        giveUp();
        forget();
    }
}
