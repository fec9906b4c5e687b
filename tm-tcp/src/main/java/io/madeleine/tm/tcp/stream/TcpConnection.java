package io.madeleine.tm.tcp.stream;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.io.InterruptedRecordException;
import io.madeleine.tm.tcp.io.StreamBuffers;
import io.madeleine.tm.tcp.io.Wire;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * One TCP connection to one peer, for one channel: its link, the reports of the link, and its end. {@link
 * ConnectionPoller} decides when it is read.
 *
 * <p>Threading: as {@link ProtocolConnection} says.
 */
public final class TcpConnection extends LinkReports implements ProtocolConnection, Lingering.Closed {
    private static final String GIVEN_UP =
            "it has given this process up, for example because it was told that this process is gone, because it saw no"
                    + " sign of life for madeleine.peer-timeout, or because a call of its own failed in the middle of a"
                    + " packet; its log says which";

    private final ProcessIdentity peer;
    private final Wire wire;
    private final TcpProgress progress;
    private final ConnectionPoller poller;
    private final StreamOutput output;
    private final StreamReceiver receiver;
    private final TcpStreamLink link;
    private volatile PathState path = PathState.UNWATCHED;
    private volatile boolean sendClosed;
    private volatile boolean unreachable;

    public TcpConnection(
            ProcessIdentity peer,
            Wire wire,
            TcpProgress progress,
            TransmissionCapabilities capabilities,
            TcpConfig.StreamConfig config,
            StreamBuffers buffers) {
        this.peer = peer;
        this.wire = wire;
        this.progress = progress;
        this.poller = new ConnectionPoller(
                wire,
                progress,
                this::goOnWithFarewell,
                () -> progress.lingering().onReady(this));
        this.output = new StreamOutput(this, new StreamSender(wire, config, buffers), progress.coalescing());
        this.receiver = new StreamReceiver(wire, config, buffers);
        this.link = new TcpStreamLink(this, capabilities, output, receiver);
    }

    /**
     * Adds bytes that came with the last frame of the handshake; before {@link #start}. Ownership: the bytes are
     * copied.
     */
    public void prepend(ByteBuffer bytes) {
        receiver.prepend(bytes);
        poller.buffered(true);
    }

    /** Sets the state of the path to the peer, which {@link PathWatch} watches; before {@link #start}. */
    public void watched(PathState leavingHost) {
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
        poller.start(receiverOfUpcalls);
    }

    @Override
    public void receiveInterest(boolean wanted) {
        poller.receiveInterest(wanted);
    }

    /**
     * Whether the read of the previous packet has also brought the header of a further message. To look for any other
     * message would cost a system call.
     */
    @Override
    public boolean hasArrivals() {
        return poller.hasBuffered();
    }

    @Override
    public String seenOfLoss() {
        return poller.seenOfLoss();
    }

    public ConnectionPoller poller() {
        return poller;
    }

    StreamOutput output() {
        return output;
    }

    @Override
    public Wire wire() {
        return wire;
    }

    // --- reports of the link, under the lock of its direction ---

    @Override
    boolean canSend() {
        return !sendClosed;
    }

    @Override
    void sent(boolean pending) {
        path.sent();
        poller.sent(pending);
    }

    @Override
    void sentKept(boolean pending) {
        path.sent();
        poller.sentKept(pending);
    }

    @Override
    void sendFailed(IOException e) {
        sendClosed = true;
        poller.sendPending(false);
        poller.loseBySend("sending failed: " + e.getMessage());
    }

    @Override
    void headerIsBuffered(boolean is) {
        poller.buffered(is);
    }

    @Override
    void receiveEnded() {
        if (!poller.hasEndedReceiving()) {
            if (receiver.hasFarewell()) {
                poller.lose(true, "it closed its end");
            } else if (receiver.isGivenUp()) {
                poller.lose(false, GIVEN_UP);
            } else {
                poller.lose(false, "the connection was closed without a farewell, as when a process ends");
            }
            poller.endReceiving(); // last: if memory is too short for the calls before, the next check repeats all
        }
    }

    @Override
    void receiveFailed(IOException e) {
        receiver.end();
        if (e instanceof SSLException) {
            broken("its TLS records cannot be decrypted (" + e.getMessage() + ")");
        } else if (e instanceof InterruptedRecordException) {
            broken(String.valueOf(e.getMessage()));
        } else {
            poller.lose(false, PeerLoss.reasonOf(e));
            poller.endReceiving();
        }
    }

    @Override
    void broken(String reason) {
        sendClosed = true;
        poller.lose(false, reason);
        poller.endReceiving();
        output.end();
        wire.close();
    }

    // --- calls of the path watch ---

    /** The number of packets received, modulo 2^32; for threads other than the leader possibly not the newest. */
    public int heardPackets() {
        return receiver.packets();
    }

    /**
     * Ends the connection because the path to the peer's host is cut. Any thread: a thread that only sends does not
     * poll, and so learns of the loss from here.
     */
    public void pathLost(String reason) {
        unreachable = true;
        receiver.cut(); // in case the path works again later
        poller.lose(false, reason);
        try {
            ConnectionListener upper = poller.listener();
            if (upper != null) {
                upper.onLost(LossKind.CONNECTION, false, reason);
            }
        } finally {
            sendClosed = true; // after the listener knows the reason
        }
    }

    // --- the end ---

    /** Closes the socket at once, so that the peer learns of it even if it only sends. */
    @Override
    public void giveUp() {
        sendClosed = true;
        poller.endReceiving();
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
            poller.sendPending(true);
            poller.requestLook();
        }
    }

    /** Continues to send the end-of-stream word, if there is one; returns whether none is left to send. */
    boolean goOnWithFarewell() {
        return !output.hasLastToSend() || flushLast();
    }

    /**
     * Sends the rest of the end-of-stream word; returns whether this is complete, or pointless because the connection
     * has failed.
     */
    private boolean flushLast() {
        boolean done = output.flushLast();
        if (done) {
            poller.sendPending(false);
        }
        return done;
    }

    @Override
    public boolean hasLastToSend() {
        return output.hasLastToSend();
    }

    @Override
    public void close() {
        if (!poller.close()) {
            return;
        }
        sendClosed = true;
        output.end();
        boolean peerIsGone = poller.hasEndedReceiving();
        poller.endReceiving();
        receiver.drop();
        progress.remove(poller);
        path.end();
        boolean peerMayRead = endOutput() && !unreachable;
        if ((peerIsGone && !wire.hasUnsent()) || !peerMayRead) {
            wire.close();
        } else {
            progress.lingering().add(this);
        }
    }

    /** Ends a connection that could not be set up: nothing was sent over it. The caller closes the wire. */
    public void abandon() {
        boolean _ = poller.close();
        receiver.drop();
        progress.remove(poller);
        path.end();
    }

    @Override
    public boolean endOutput() {
        try {
            if (flushLast()) {
                wire.shutdownOutput();
            }
            return true;
        } catch (IOException _) {
            return false; // reset: the peer does not read what was sent last
        }
    }
}
