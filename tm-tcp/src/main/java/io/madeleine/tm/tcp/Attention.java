package io.madeleine.tm.tcp;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.madeleine.pmm.spi.ConnectionListener;
import org.jspecify.annotations.Nullable;

/**
 * When a connection is looked at, and by whom: the leader reads it as often as its {@link ReadingPace} says; when it is cold, and
 * before the engine sleeps, the reactor watches it; and what no event would tell of is requested.
 *
 * <p>Threading: {@link #attend}, {@link #heat}, {@link #pollHot}, {@link #arm} and {@link #disarm} belong to the leader, the rest is
 * thread-safe. Flags that several threads look at are volatile: who changes one changes it first and looks at the others then.
 */
final class Attention {
    private final TcpConnection connection;
    private final Wire wire;
    private final TcpProgress progress;
    private final ReadingPace pace = new ReadingPace();
    private final PeerLoss loss = new PeerLoss();
    private final Interest interest;

    private volatile @Nullable ConnectionListener listener;
    private volatile boolean interested = true;
    private volatile boolean buffered;
    private volatile boolean sendPending;
    private volatile boolean receiveClosed;
    private volatile boolean closed;
    private volatile boolean look;

    /** What the reactor's last sleep began to watch for; the leader's. */
    private int armedOperations = -1;

    Attention(TcpConnection connection, Wire wire, TcpProgress progress) {
        this.connection = connection;
        this.wire = wire;
        this.progress = progress;
        this.interest = new Interest(wire, this::wantedOperations);
    }

    void start(ConnectionListener receiverOfUpcalls) {
        listener = receiverOfUpcalls;
        interest.update();
        requestLook();
    }

    /** Who is told; null before the start. */
    @Nullable
    ConnectionListener listener() {
        return listener;
    }

    // --- what changes ---

    /** Whether the layer above can take what comes. */
    void receiveInterest(boolean wanted) {
        if (interested == wanted) {
            return;
        }
        interested = wanted;
        interest.update();
        if (wanted && (progress.isArmed() || (hasBytes() && !pace.isHot()))) {
            requestLook();
        }
    }

    /** Whether a header lies in the buffer, where no event will tell of it. */
    void buffered(boolean is) {
        if (buffered != is) {
            buffered = is;
            if (is && (!pace.isHot() || progress.isArmed())) {
                requestLook();
            }
        }
    }

    boolean hasBuffered() {
        return buffered;
    }

    /** A packet has been sent as far as the socket takes it. */
    void sent(boolean pending) {
        sendPending(pending);
        if (!pace.isHot() && !look && !progress.isArmed()) {
            requestLook(); // an answer is likely
        }
    }

    /** What had been kept back has been written as far as the socket takes it. */
    void sentKept(boolean pending) {
        sendPending(pending);
        if (pending && progress.isArmed()) {
            requestLook(); // and room is watched for then
        }
    }

    /** Whether something waits for room in the socket. */
    void sendPending(boolean pending) {
        if (sendPending != pending) {
            sendPending = pending;
        }
    }

    /** Nothing more will be read. */
    void endReceiving() {
        receiveClosed = true;
        interest.update();
    }

    boolean hasEndedReceiving() {
        return receiveClosed;
    }

    /** The connection brings no more; the listener will be told. */
    void lose(boolean orderly, String reason) {
        if (loss.note(orderly, reason)) {
            requestLook();
        }
    }

    /** A send has failed: the same, unless reading finds a better reason until then. */
    void loseBySend(String reason) {
        if (loss.noteFailedSend(reason)) {
            requestLook();
        }
    }

    /** What is known of the connection's end, or an empty text. */
    String seenOfLoss() {
        return loss.seen();
    }

    /** The wire's events are somebody else's from now on; returns false if they were before. */
    boolean close() {
        boolean first = interest.end();
        closed = true;
        return first;
    }

    /** Makes the leader look even though no event tells; ends its sleep. */
    void requestLook() {
        look = true;
        progress.requestLook();
    }

    // --- what the leader does ---

    /** Attends to what was requested; returns how many events that was. */
    int attend() {
        ConnectionListener upper = listener;
        if (!look || upper == null) {
            return 0;
        }
        look = false;
        try {
            progress.heat(connection);
            if (!connection.goOnWithFarewell()) {
                requestLook();
            }
            return loss.report(upper);
        } catch (VirtualMachineError e) { // memory is short, say: once more
            requestLook();
            throw e;
        }
    }

    boolean isHot() {
        return pace.isHot();
    }

    void heat() {
        pace.heat();
    }

    /** Tries to read, if it is time; returns how much was moved. */
    int pollHot() {
        if (!pace.isDue()) {
            return 0;
        }
        ConnectionListener upper = listener;
        if (closed) {
            pace.cool();
            return 0;
        }
        if (!interested || upper == null) {
            return 0;
        }
        int moved = upper.onReadable();
        if (moved > 0) {
            if (pace.succeeded()) {
                interest.update();
            }
        } else if (pace.failed()) {
            interest.update();
            if (interested && hasBytes()) {
                requestLook();
            }
        }
        return moved;
    }

    /** Whether something has been read of which no event will tell. */
    private boolean hasBytes() {
        return buffered || (!receiveClosed && wire.hasArrived());
    }

    /** Watches for what matters to a sleeper; returns whether there is something already. */
    boolean arm() {
        pace.armed();
        interest.update();
        armedOperations = interest.operations();
        if ((interested && hasBytes() && listener != null) || (sendPending && wire.hasRoom())) {
            requestLook();
            return true;
        }
        return false;
    }

    /** As {@link #arm} while the reactor's sleep goes on that was armed before; false if it does not watch for just the same. */
    boolean rearm() {
        interest.update();
        return interest.operations() == armedOperations && !look && !sendPending && !(interested && hasBytes());
    }

    void disarm() {
        interest.update();
    }

    /** The reactor's event; also after closing, while the peer takes what was sent last. */
    void onReady(int readyOperations) {
        if (closed) {
            progress.lingering().onReady(connection);
            return;
        }
        if (!progress.isLedHere()) { // upcalls are the leader's
            if (!pace.isHot() || progress.isArmed()) {
                requestLook();
            }
            return;
        }
        ConnectionListener upper = listener;
        if ((readyOperations & OP_READ) != 0 && interested && upper != null && upper.onReadable() > 0) {
            progress.heat(connection);
        }
    }

    private int wantedOperations() {
        boolean armed = progress.isArmed();
        boolean read = interested && !receiveClosed && listener != null && (armed || !pace.isHot() || pace.isWatched());
        boolean write = armed && sendPending;
        return (read ? OP_READ : 0) | (write ? OP_WRITE : 0);
    }
}
