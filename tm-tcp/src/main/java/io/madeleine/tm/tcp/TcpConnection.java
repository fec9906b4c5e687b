package io.madeleine.tm.tcp;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * One TCP connection to one peer, for one channel: its link, what that reports, and its end. When it is read is the business of its
 * {@link Attention}.
 *
 * <p>Threading: as {@link ProtocolConnection} says.
 */
final class TcpConnection implements ProtocolConnection {
    private static final String GIVEN_UP =
            "it has given this process up, as when it has no sign of it for madeleine.peer-timeout, or when a call of its"
                    + " own has failed in the midst of a packet; its log says which";

    private final ProcessIdentity peer;
    private final Wire wire;
    private final TcpProgress progress;
    private final Attention attention;
    private final StreamOutput output;
    private final StreamReceiver receiver;
    private final TcpStreamLink link;
    private volatile PathState path = PathState.UNWATCHED;
    private volatile boolean sendClosed;
    private volatile boolean unreachable;

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
        this.attention = new Attention(this, wire, progress);
        this.output = new StreamOutput(this, new StreamSender(wire, config, buffers), progress.coalescing());
        this.receiver = new StreamReceiver(wire, config, buffers);
        this.link = new TcpStreamLink(this, capabilities, output, receiver);
    }

    /** Takes bytes that came with the last frame of the handshake; before {@link #start}. */
    void prepend(ByteBuffer bytes) {
        receiver.prepend(bytes);
        attention.buffered(true);
    }

    /** Has the way to the peer watched; before {@link #start}. */
    void watched(PathState leavingHost) {
        path = leavingHost;
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
        attention.start(receiverOfUpcalls);
    }

    @Override
    public void receiveInterest(boolean wanted) {
        attention.receiveInterest(wanted);
    }

    /** Of a message behind the last one: it has come with the same read. For any other the socket would have to be asked. */
    @Override
    public boolean hasArrivals() {
        return attention.hasBuffered();
    }

    @Override
    public String seenOfLoss() {
        return attention.seenOfLoss();
    }

    Attention attention() {
        return attention;
    }

    StreamOutput output() {
        return output;
    }

    Wire wire() {
        return wire;
    }

    // --- what the link reports; under the lock of its direction ---

    boolean canSend() {
        return !sendClosed;
    }

    /** The link has sent, and the kernel has not taken it all or it has. */
    void sent(boolean pending) {
        path.sent();
        attention.sent(pending);
    }

    /** What had been kept back has been written, or the socket has not taken it all; by any thread. */
    void sentKept(boolean pending) {
        path.sent();
        attention.sentKept(pending);
    }

    void sendFailed(IOException e) {
        sendClosed = true;
        attention.sendPending(false);
        attention.loseBySend("sending failed: " + e.getMessage());
    }

    /** Another header lies in the buffer, where no event will tell of it. */
    void headerIsBuffered(boolean is) {
        attention.buffered(is);
    }

    void receiveEnded() {
        if (!attention.hasEndedReceiving()) {
            if (receiver.hasFarewell()) {
                attention.lose(true, "it closed its end");
            } else if (receiver.isGivenUp()) {
                attention.lose(false, GIVEN_UP);
            } else {
                attention.lose(false, "the connection was closed without a farewell, as when a process ends");
            }
            attention.endReceiving(); // last: if memory is too short for the others, the next look does all of it
        }
    }

    void receiveFailed(IOException e) {
        receiver.end();
        if (e instanceof SSLException) {
            broken("its TLS records are not as they were sent (" + e.getMessage() + ")");
        } else if (e instanceof CutRecordException) {
            broken(String.valueOf(e.getMessage()));
        } else {
            attention.lose(false, PeerLoss.reasonOf(e));
            attention.endReceiving();
        }
    }

    void broken(String reason) {
        sendClosed = true;
        attention.lose(false, reason);
        attention.endReceiving();
        output.end();
        wire.close();
    }

    // --- what the watch of the way to the peer does ---

    /** How many packets have come from the peer, in any terms; not always the newest for other threads than the leader. */
    int heardPackets() {
        return receiver.packets();
    }

    /** The way to the peer's host is cut; any thread. Who only sends does not poll, and is told from here. */
    void pathLost(String reason) {
        unreachable = true;
        receiver.cut(); // should the way be whole again some day
        attention.lose(false, reason);
        ConnectionListener upper = attention.listener();
        if (upper != null) {
            upper.onLost(LossKind.CONNECTION, false, reason);
        }
        sendClosed = true; // from now on it is known why
    }

    // --- the end ---

    /** The socket is closed at once, so that the peer hears of it even if it only sends. */
    @Override
    public void giveUp() {
        sendClosed = true;
        attention.endReceiving();
        receiver.cut();
        output.giveUp();
        output.end();
        wire.close();
    }

    @Override
    public void finish() {
        if (sendClosed || !output.finish()) {
            return;
        }
        sendClosed = true;
        if (!flushLast()) {
            attention.sendPending(true);
            attention.requestLook();
        }
    }

    /** Sends what is left of the last that is to be sent, if that has begun; returns whether nothing is left. */
    boolean goOnWithFarewell() {
        return !output.hasLastToSend() || flushLast();
    }

    /** Sends the last that is to be sent, or what is left of it; returns whether that is done or has become pointless. */
    private boolean flushLast() {
        boolean done = output.flushLast();
        if (done) {
            attention.sendPending(false);
        }
        return done;
    }

    boolean hasLastToSend() {
        return output.hasLastToSend();
    }

    @Override
    public void close() {
        if (!attention.close()) {
            return;
        }
        sendClosed = true;
        output.end();
        boolean peerIsGone = attention.hasEndedReceiving();
        attention.endReceiving();
        receiver.drop();
        progress.remove(this);
        path.end();
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
}
