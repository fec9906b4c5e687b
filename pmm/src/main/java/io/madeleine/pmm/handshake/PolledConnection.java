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
 * One end of a connection of a {@link PolledAdapter}. At first it is the line of the handshake; when that succeeds, it
 * becomes the connection.
 *
 * <p>Threading: as for {@link ProtocolConnection}; as a line, under the adapter's lock.
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

    // ---- methods of the network

    /** The next frame of the handshake that has arrived, or null. */
    protected abstract @Nullable ByteBuffer takeFrame();

    /** Makes the links, one for each agreed module. */
    protected abstract List<TransmissionLink> openLinks(ConnectionRequest made);

    /**
     * Whether something has arrived: a frame during the handshake, later packets for {@link
     * ConnectionListener#onReadable}.
     */
    protected abstract boolean hasPackets();

    /** Whether the peer's end has finished or closed, so that nothing more will arrive. */
    protected abstract boolean hasEnded();

    /** Whether the peer has finished of its own will. */
    protected abstract boolean hasFinished();

    /** Whether a sender that had to wait can continue. */
    protected abstract boolean hasRoomAgain();

    /** Whether this end is closed or was given up. */
    protected abstract boolean isClosed();

    /**
     * Gives the peer up, which may be alive: its {@link #hasEnded} becomes true, and {@link #hasFinished} does not. The
     * links of this end return {@link io.madeleine.pmm.spi.LinkStatus#CLOSED} from now on, and {@link #isClosed} is
     * true.
     */
    @Override
    public abstract void giveUp();

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

    /** Gives arrived frames to the handshake; returns how many events that was. */
    final int feed(Handshake handshake, long nowNs) {
        int work = 0;
        for (boolean more = true; more && !handshake.isOver(); ) {
            boolean ended = hasEnded(); // read before the frames: those that arrived before the end still count
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

    /** Makes upcalls for arrivals and for the end; returns how many events that was. */
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

    /** The driver calls this when it has closed the connection: the adapter no longer polls it. */
    protected final void forget() {
        adapter.forget(this);
    }

    /** Whether there is an event, so that the engine must not sleep. */
    final boolean hasWork() {
        if (isClosed()) {
            return false;
        }
        if (links.isEmpty()) {
            return hasPackets() || hasEnded();
        }
        return listener != null && ((interested && hasPackets()) || (hasEnded() && !toldLoss) || hasRoomAgain());
    }
}
