package io.madeleine.tm.tcp.stream;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.tm.tcp.io.Wire;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a connection is polled, and by whom. The leader reads a hot connection as often as its {@link
 * PollBackoff} says. The reactor watches a cold connection, and every connection while the engine sleeps. For state
 * that no readiness event reports, a thread requests a check by the leader.
 *
 * <p>Threading: {@link #attend}, {@link #heat}, {@link #pollHot}, {@link #arm}, {@link #rearm} and {@link #disarm}
 * belong to the leader, the rest is thread-safe. The flags are volatile: a thread writes its own flag first and reads
 * the others then, so that of two threads at least one sees both changes.
 */
public final class ConnectionPoller {
    private final Wire wire;
    private final TcpProgress progress;
    private final BooleanSupplier farewell;
    private final Runnable whenReadyAfterClose;
    private final PollBackoff backoff = new PollBackoff();
    private final PeerLoss loss = new PeerLoss();
    private final Interest interest;

    private volatile @Nullable ConnectionListener listener;
    private volatile boolean interested = true;
    private volatile boolean buffered;
    private volatile boolean sendPending;
    private volatile boolean receiveClosed;
    private volatile boolean closed;
    private volatile boolean look;

    /** The operations that the reactor's last sleep began to watch; the leader's. */
    private int armedOperations = -1;

    /**
     * Creates the poller of a connection, which is not started.
     *
     * @param farewell continues to send the end-of-stream word, if there is one; returns whether none is left to send
     * @param whenReadyAfterClose handles the wire's events once the connection is closed
     */
    ConnectionPoller(Wire wire, TcpProgress progress, BooleanSupplier farewell, Runnable whenReadyAfterClose) {
        this.wire = wire;
        this.progress = progress;
        this.farewell = farewell;
        this.whenReadyAfterClose = whenReadyAfterClose;
        this.interest = new Interest(wire, this::wantedOperations);
    }

    void start(ConnectionListener receiverOfUpcalls) {
        listener = receiverOfUpcalls;
        interest.update();
        requestLook();
    }

    /** The receiver of upcalls, or null before the start. */
    @Nullable
    ConnectionListener listener() {
        return listener;
    }

    // --- changes of state ---

    /** Sets whether the layer above can take arriving packets. */
    void receiveInterest(boolean wanted) {
        if (interested == wanted) {
            return;
        }
        interested = wanted;
        interest.update();
        if (wanted && (progress.isArmed() || (hasBytes() && !backoff.isHot()))) {
            requestLook();
        }
    }

    /** Sets whether a header lies in the receive buffer, which no readiness event reports. */
    void buffered(boolean is) {
        if (buffered != is) {
            buffered = is;
            if (is && (!backoff.isHot() || progress.isArmed())) {
                requestLook();
            }
        }
    }

    boolean hasBuffered() {
        return buffered;
    }

    /** Notes that a packet was sent; {@code pending} if the socket did not accept all of it. */
    void sent(boolean pending) {
        sendPending(pending);
        if (!backoff.isHot() && !look && !progress.isArmed()) {
            requestLook(); // an answer is likely soon
        }
    }

    /** Notes that held-back messages were written; {@code pending} if the socket did not accept all of them. */
    void sentKept(boolean pending) {
        sendPending(pending);
        if (pending && progress.isArmed()) {
            requestLook(); // the leader then has the reactor watch for room
        }
    }

    /** Sets whether bytes wait for room in the socket. */
    void sendPending(boolean pending) {
        if (sendPending != pending) {
            sendPending = pending;
        }
    }

    /** Ends reading. */
    void endReceiving() {
        receiveClosed = true;
        interest.update();
    }

    boolean hasEndedReceiving() {
        return receiveClosed;
    }

    /** Notes that the connection is lost; the leader reports it to the listener. */
    void lose(boolean orderly, String reason) {
        if (loss.note(orderly, reason)) {
            requestLook();
        }
    }

    /** Notes that a send failed: a loss, unless reading finds a more precise reason before it is reported. */
    void loseBySend(String reason) {
        if (loss.noteFailedSend(reason)) {
            requestLook();
        }
    }

    /** The reason of the loss, or an empty text. */
    String seenOfLoss() {
        return loss.seen();
    }

    /** Detaches the wire's events from this connection; returns false if they were detached before. */
    boolean close() {
        boolean first = interest.end();
        closed = true;
        return first;
    }

    /** Requests a check by the leader without a readiness event; ends the leader's sleep. */
    void requestLook() {
        look = true;
        progress.requestLook();
    }

    // --- calls of the leader ---

    /** Performs a requested check; returns the number of events. */
    int attend() {
        ConnectionListener upper = listener;
        if (!look || upper == null) {
            return 0;
        }
        look = false;
        try {
            progress.heat(this);
            if (!farewell.getAsBoolean()) {
                requestLook();
            }
            return loss.report(upper);
        } catch (VirtualMachineError e) { // for example out of memory: try again
            requestLook();
            throw e;
        }
    }

    boolean isHot() {
        return backoff.isHot();
    }

    void heat() {
        backoff.heat();
    }

    /** Reads if it is time to; returns the number of packets or blocks moved. */
    int pollHot() {
        if (!backoff.isDue()) {
            return 0;
        }
        ConnectionListener upper = listener;
        if (closed) {
            backoff.cool();
            return 0;
        }
        if (!interested || upper == null) {
            return 0;
        }
        int moved = upper.onReadable();
        if (moved > 0) {
            if (backoff.succeeded()) {
                interest.update();
            }
        } else if (backoff.failed()) {
            interest.update();
            if (interested && hasBytes()) {
                requestLook();
            }
        }
        return moved;
    }

    /** Whether bytes have been read that no readiness event reports. */
    private boolean hasBytes() {
        return buffered || (!receiveClosed && wire.hasArrived());
    }

    /** Has the reactor watch everything that must end a sleep; returns whether there is work already. */
    boolean arm() {
        backoff.armed();
        interest.update();
        armedOperations = interest.operations();
        if ((interested && hasBytes() && listener != null) || (sendPending && wire.hasRoom())) {
            requestLook();
            return true;
        }
        return false;
    }

    /**
     * As {@link #arm}, while the reactor's sleep that was armed before goes on. Returns false if that sleep does not
     * watch exactly what is needed now, or if there is work.
     */
    boolean rearm() {
        interest.update();
        return interest.operations() == armedOperations && !look && !sendPending && !(interested && hasBytes());
    }

    void disarm() {
        interest.update();
    }

    /** Handles a readiness event; also after closing, while the peer still reads what was sent last. */
    public void onReady(int readyOperations) {
        if (closed) {
            whenReadyAfterClose.run();
            return;
        }
        if (!progress.isLedHere()) { // only the leader makes upcalls
            if (!backoff.isHot() || progress.isArmed()) {
                requestLook();
            }
            return;
        }
        ConnectionListener upper = listener;
        if ((readyOperations & OP_READ) != 0 && interested && upper != null && upper.onReadable() > 0) {
            progress.heat(this);
        }
    }

    private int wantedOperations() {
        boolean armed = progress.isArmed();
        boolean read =
                interested && !receiveClosed && listener != null && (armed || !backoff.isHot() || backoff.isWatched());
        boolean write = armed && sendPending;
        return (read ? OP_READ : 0) | (write ? OP_WRITE : 0);
    }
}
