package io.madeleine.tm.tcp;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One TCP connection to one peer, for one channel. While it is <i>hot</i> (something came lately) the leader tries to
 * read it in each round, and less and less often as nothing comes; when cold, and before the engine sleeps, the reactor
 * watches it.
 *
 * <p>Threading: as {@link ProtocolConnection} says; the polling state belongs to the leader. Flags that several threads
 * look at are volatile: who changes one changes it first and looks at the others then ({@link #updateInterest}).
 */
final class TcpConnection implements ProtocolConnection {
    /** So many rounds in vain until the connection is read in every second, fourth, ... round only. */
    private static final int EAGER_ROUNDS = 256;

    private static final int PATIENT_ROUNDS = 32;
    private static final int MAX_INTERVAL = 64;

    /** After so many reads without a sleep the reactor need not watch the socket, too. */
    private static final int UNWATCH_AFTER = 16;

    private record Loss(boolean orderly, String reason) {}

    private final ProcessIdentity peer;
    private final Wire wire;
    private final TcpProgress progress;
    private final StreamOutput output;
    private final StreamReceiver receiver;
    private final TcpStreamLink link;
    private final Object interestLock = new Object();
    private volatile @Nullable PathState path;

    private volatile @Nullable ConnectionListener listener;
    private volatile @Nullable Loss loss;
    private volatile boolean interested = true;
    private volatile boolean buffered;
    private volatile boolean sendPending;
    private volatile boolean sendClosed;
    private volatile boolean receiveClosed;
    private volatile boolean unreachable;
    private volatile boolean closed;
    private volatile boolean hot;
    private volatile boolean watched;
    private volatile boolean look;
    private volatile int operations;

    // the leader's
    private int countdown;
    private int idleRounds;
    private int successes;
    private boolean lossReported;

    TcpConnection(
            ProcessIdentity peer,
            Wire wire,
            TcpProgress progress,
            TransmissionCapabilities capabilities,
            TcpConfig.StreamConfig config,
            StreamBuffers buffers) {
        this.peer = peer;
        this.wire = wire;
        this.progress = progress;
        this.output = new StreamOutput(this, new StreamSender(wire, config, buffers), progress.coalescing());
        this.receiver = new StreamReceiver(wire, config, buffers);
        this.link = new TcpStreamLink(this, capabilities, output, receiver);
    }

    /** Takes bytes that came with the last frame of the handshake; before {@link #start}. */
    void prepend(ByteBuffer bytes) {
        receiver.prepend(bytes);
        buffered = true;
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
    public void start(ConnectionListener receiverOfUpcalls) {
        listener = receiverOfUpcalls;
        updateInterest();
        requestLook();
    }

    @Override
    public void receiveInterest(boolean wanted) {
        if (interested == wanted) {
            return;
        }
        interested = wanted;
        updateInterest();
        if (wanted && (progress.isArmed() || (hasBytes() && !hot))) {
            requestLook();
        }
    }

    /** Of a message behind the last one: it has come with the same read. For any other the socket would have to be asked. */
    @Override
    public boolean hasArrivals() {
        return buffered;
    }

    // --- what the link reports; under the lock of its direction ---

    boolean canSend() {
        return !sendClosed;
    }

    /** The link has sent, and the kernel has not taken it all or it has. */
    void sent(boolean pending) {
        if (sendPending != pending) {
            sendPending = pending;
        }
        tellPath();
        if (!hot && !look && !progress.isArmed()) {
            requestLook(); // an answer is likely
        }
    }

    /** What had been kept back has been written, or the socket has not taken it all; by any thread. */
    void sentKept(boolean pending) {
        if (sendPending != pending) {
            sendPending = pending;
        }
        tellPath();
        if (pending && progress.isArmed()) {
            requestLook(); // and room is watched for then
        }
    }

    private void tellPath() {
        PathState leaving = path;
        if (leaving != null) {
            leaving.sent();
        }
    }

    /** Has the way to the peer watched; before {@link #start}. */
    void watched(PathState leavingHost) {
        path = leavingHost;
    }

    /** How many packets have come from the peer, in any terms; not always the newest for other threads than the leader. */
    int heardPackets() {
        return receiver.packets();
    }

    /** The way to the peer's host is cut; any thread. Who only sends does not poll, and is told from here. */
    void pathLost(String reason) {
        unreachable = true;
        lose(false, reason);
        ConnectionListener upper = listener;
        if (upper != null) {
            upper.onLost(false, reason);
        }
        sendClosed = true; // from now on it is known why
    }

    void sendFailed(IOException e) {
        sendClosed = true;
        sendPending = false;
        lose(false, "sending failed: " + e.getMessage());
    }

    /** Another header lies in the buffer, where no event will tell of it. */
    void headerIsBuffered(boolean is) {
        if (buffered != is) {
            buffered = is;
            if (is && (!hot || progress.isArmed())) {
                requestLook();
            }
        }
    }

    void receiveEnded() {
        if (!receiveClosed) {
            receiveClosed = true;
            updateInterest();
            if (receiver.hasFarewell()) {
                lose(true, "it closed its end");
            } else {
                lose(false, "the connection was closed without a farewell, as when a process ends");
            }
        }
    }

    void receiveFailed(IOException e) {
        if (e instanceof SSLException) {
            receiver.end();
            broken("its TLS records are not as they were sent (" + e.getMessage() + ")");
            return;
        }
        receiver.end();
        receiveClosed = true;
        updateInterest();
        lose(
                false,
                String.valueOf(e.getMessage()).contains("timed out")
                        ? "its host gave no sign for madeleine.peer-timeout"
                        : "the connection was reset (" + e.getMessage() + ")");
    }

    void broken(String reason) {
        receiveClosed = true;
        sendClosed = true;
        updateInterest();
        lose(false, reason);
        output.end();
        wire.close();
    }

    private void lose(boolean orderly, String reason) {
        if (loss == null || orderly) { // a failing send may find out first, but a farewell in the stream counts more
            loss = new Loss(orderly, reason);
            requestLook();
        }
    }

    // --- what the leader does ---

    private void requestLook() {
        look = true;
        progress.requestLook();
    }

    /** Attends to what was requested; returns how many events that was. */
    int attend() {
        ConnectionListener upper = listener;
        if (!look || upper == null) {
            return 0;
        }
        look = false;
        progress.heat(this);
        if (output.hasLastToSend() && !flushLast()) {
            requestLook();
        }
        if (loss == null || lossReported) {
            return 0;
        }
        lossReported = true;
        upper.onReadable();
        Loss lost = Objects.requireNonNull(loss);
        upper.onLost(lost.orderly, lost.reason);
        return 1;
    }

    boolean isHot() {
        return hot;
    }

    void heat() {
        idleRounds = 0;
        countdown = 1;
        if (!hot) {
            watched = true; // still is
            successes = 0;
            hot = true;
        }
    }

    /** Tries to read, if it is time; returns how much was moved. */
    int pollHot() {
        if (--countdown > 0) {
            return 0;
        }
        countdown = 1;
        ConnectionListener upper = listener;
        if (closed) {
            hot = false;
            return 0;
        }
        if (!interested || upper == null) {
            return 0;
        }
        int moved = upper.onReadable();
        if (moved > 0) {
            idleRounds = 0;
            if (watched && ++successes >= UNWATCH_AFTER) {
                watched = false;
                updateInterest();
            }
        } else {
            pollInVain();
        }
        return moved;
    }

    private void pollInVain() {
        if (++idleRounds <= EAGER_ROUNDS) {
            return;
        }
        int doublings = (idleRounds - EAGER_ROUNDS) / PATIENT_ROUNDS + 1;
        if (1 << doublings <= MAX_INTERVAL) {
            countdown = 1 << doublings;
            return;
        }
        hot = false;
        updateInterest();
        if (interested && hasBytes()) {
            requestLook();
        }
    }

    /** Whether something has been read of which no event will tell. */
    private boolean hasBytes() {
        return buffered || (!receiveClosed && wire.hasArrived());
    }

    /** Watches for what matters to a sleeper; returns whether there is something already. */
    boolean arm() {
        successes = 0;
        updateInterest();
        if ((interested && hasBytes() && listener != null) || (sendPending && wire.hasRoom())) {
            requestLook();
            return true;
        }
        return false;
    }

    void disarm() {
        updateInterest();
    }

    /** The reactor's event; also after closing, while the peer takes what was sent last. */
    void onReady(int readyOperations) {
        if (closed) {
            progress.lingering().onReady(this);
            return;
        }
        if (!progress.isLedHere()) { // upcalls are the leader's
            if (!hot || progress.isArmed()) {
                requestLook();
            }
            return;
        }
        ConnectionListener upper = listener;
        if ((readyOperations & OP_READ) != 0 && interested && upper != null && upper.onReadable() > 0) {
            progress.heat(this);
        }
    }

    /** Makes the reactor watch for what matters now; any thread. */
    private void updateInterest() {
        if (operations != wantedOperations()) {
            synchronized (interestLock) {
                int wanted = wantedOperations();
                if (operations != wanted && !closed) {
                    operations = wanted;
                    wire.interest(wanted);
                }
            }
        }
    }

    private int wantedOperations() {
        boolean armed = progress.isArmed();
        boolean read = interested && !receiveClosed && listener != null && (armed || !hot || watched);
        boolean write = armed && sendPending;
        return (read ? OP_READ : 0) | (write ? OP_WRITE : 0);
    }

    // --- the end ---

    @Override
    public void finish() {
        if (sendClosed || !output.finish()) {
            return;
        }
        sendClosed = true;
        if (!flushLast()) {
            sendPending = true;
            requestLook();
        }
    }

    /** Sends the last that is to be sent, or what is left of it; returns whether that is done or has become pointless. */
    private boolean flushLast() {
        boolean done = output.flushLast();
        if (done && sendPending) {
            sendPending = false;
        }
        return done;
    }

    @Override
    public void close() {
        synchronized (interestLock) {
            if (closed) {
                return;
            }
            closed = true;
        }
        sendClosed = true;
        output.end();
        boolean peerIsGone = receiveClosed;
        receiveClosed = true;
        receiver.drop();
        progress.remove(this);
        PathState leaving = path;
        if (leaving != null) {
            leaving.end();
        }
        boolean peerMayRead = endOutput() && !unreachable;
        if ((peerIsGone && !wire.hasUnsent()) || !peerMayRead) {
            wire.close();
        } else {
            progress.lingering().add(this);
        }
    }

    /** Says what is left to say and ends the stream; returns whether the peer may still be reading. */
    boolean endOutput() {
        try {
            if (flushLast()) {
                wire.shutdownOutput();
            }
            return true;
        } catch (IOException _) {
            return false; // reset: nobody is there to read what was sent last
        }
    }

    boolean hasLastToSend() {
        return output.hasLastToSend();
    }

    StreamOutput output() {
        return output;
    }

    Wire wire() {
        return wire;
    }
}
