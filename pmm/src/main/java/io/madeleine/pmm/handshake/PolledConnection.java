package io.madeleine.pmm.handshake;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection of a {@link PolledAdapter}: at first a line that carries the handshake, then what the handshake has made of
 * it.
 *
 * <p>Threading: as {@link ProtocolConnection} says; as a line under the adapter's lock.
 */
public abstract class PolledConnection implements ProtocolConnection, HandshakeLine {
    private final PolledAdapter adapter;
    private volatile @Nullable ConnectionRequest request;
    private volatile List<TransmissionLink> links = List.of();
    private volatile @Nullable ConnectionListener listener;
    private volatile boolean interested = true;
    private boolean toldLoss;

    /** A line of an adapter. */
    protected PolledConnection(PolledAdapter adapter) {
        this.adapter = adapter;
    }

    // ---- what the network says

    /** The next frame of the handshake that has come, or null. */
    protected abstract @Nullable ByteBuffer takeFrame();

    /** Makes the links, one for each agreed module. */
    protected abstract List<TransmissionLink> openLinks(ConnectionRequest made);

    /** Whether something has arrived that {@link ConnectionListener#onReadable} could read. */
    protected abstract boolean hasPackets();

    /** Whether the peer's end is closed or finished: nothing comes but what has arrived already. */
    protected abstract boolean hasEnded();

    /** Whether the peer has finished of its own will. */
    protected abstract boolean hasFinished();

    /** Whether a sender that was told to wait can go on. */
    protected abstract boolean hasRoomAgain();

    /** Whether this end is closed. */
    protected abstract boolean isClosed();

    // ---- a line

    @Override
    public final void established(PendingConnection wanted, byte[] lastFrame) {
        request = wanted.request();
        links = openLinks(wanted.request());
        sendLast(lastFrame);
        wanted.complete(this);
    }

    @Override
    public final void failed(byte[] lastFrame, String reason, boolean decided) {
        sendLast(lastFrame);
        close();
    }

    private void sendLast(byte[] frame) {
        if (frame.length > 0) {
            send(frame);
        }
    }

    /** Brings the handshake what has come; returns how much that was. */
    final int feed(Handshake handshake, long nowNs) {
        int work = 0;
        for (boolean more = true; more && !handshake.isOver(); ) {
            boolean ended = hasEnded(); // before looking: what came before the end counts
            ByteBuffer frame = takeFrame();
            if (frame != null) {
                handshake.receive(frame, nowNs);
                work++;
            } else if (ended) {
                handshake.fail("the peer closed the connection during the handshake", false);
                work++;
            } else {
                more = false;
            }
        }
        return work;
    }

    // ---- a connection

    @Override
    public final ProcessIdentity peer() {
        ConnectionRequest made = request;
        if (made == null) {
            throw new IllegalStateException("the handshake is not over");
        }
        return made.peer();
    }

    @Override
    public final boolean bidirectional() {
        return true;
    }

    @Override
    public final List<TransmissionLink> links() {
        return links;
    }

    @Override
    public final void start(ConnectionListener receiverOfUpcalls) {
        listener = receiverOfUpcalls;
        adapter.wake();
    }

    @Override
    public final void receiveInterest(boolean wanted) {
        interested = wanted;
    }

    /** Tells of what has come, and of the end; returns how much that was. */
    final int poll() {
        ConnectionListener told = listener;
        if (told == null || isClosed()) {
            return 0;
        }
        boolean ended = hasEnded();
        int work = interested && hasPackets() ? told.onReadable() : 0;
        if (ended && !toldLoss) {
            toldLoss = true;
            boolean orderly = hasFinished();
            told.onLost(LossKind.CONNECTION, orderly, orderly ? "it has finished" : "its end was closed");
            work++;
        }
        return work;
    }

    /** It is closed: it is not polled any more. */
    protected final void forget() {
        adapter.forget(this);
    }

    /** Whether the engine must not sleep. */
    final boolean hasNews() {
        if (isClosed()) {
            return false;
        }
        if (links.isEmpty()) {
            return hasPackets() || hasEnded();
        }
        return listener != null && ((interested && hasPackets()) || (hasEnded() && !toldLoss) || hasRoomAgain());
    }
}
