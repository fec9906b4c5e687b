package io.madeleine.pmm.handshake;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One side of a handshake over one line: a state machine that receives frames and answers with frames.
 *
 * <p>Threading: as for its {@link ConnectionManager}.
 */
public abstract sealed class Handshake permits InitiatorHandshake, AcceptorHandshake {
    static final byte[] NOTHING = {};

    final ConnectionManager manager;
    final HandshakeLine line;
    final long deadlineNs;

    @Nullable
    ChannelBinding binding;

    private boolean over;

    Handshake(ConnectionManager manager, HandshakeLine line, long deadlineNs) {
        this.manager = manager;
        this.line = line;
        this.deadlineNs = deadlineNs;
    }

    /** The line is open, and not protected. */
    public abstract void start();

    /** The line is open and protected, and both ends have checked each other's certificates. */
    public final void start(ChannelBinding protectedLine) {
        binding = protectedLine;
        startBound(protectedLine);
    }

    abstract void startBound(ChannelBinding protectedLine);

    /** Handles a frame whose head has been read and checked. */
    abstract void onFrame(byte type, ByteBuffer frame, long nowNs) throws MalformedFrameException;

    /** The handshake has failed, and the line is about to be closed. */
    abstract void onFailure(String reason);

    /** Whether the time limit still applies. */
    abstract boolean isTimed();

    /** Handles a frame of the peer, with any content. Does nothing after the end. */
    public final void receive(ByteBuffer frame, long nowNs) {
        if (over) {
            return;
        }
        try {
            read(frame, nowNs);
        } catch (MalformedFrameException e) {
            reject(HandshakeFrames.MALFORMED, "the peer sent something else than the handshake: " + e.getMessage());
        }
    }

    private void read(ByteBuffer frame, long nowNs) throws MalformedFrameException {
        if (!frame.hasRemaining()) {
            throw new MalformedFrameException("an empty frame");
        }
        byte type = frame.get();
        int version = HandshakeFrames.readHead(type, frame);
        if (type == HandshakeFrames.REJECT) {
            HandshakeFrames.need(frame, 1, "REJECT");
            String versions = version == HandshakeFrames.VERSION
                    ? ""
                    : " (it has " + version + ", this process " + HandshakeFrames.VERSION + ")";
            byte code = frame.get();
            fail("the peer refused: " + Rejection.describe(code) + versions, Rejection.isDecided(code));
        } else if (version != HandshakeFrames.VERSION) {
            reject(
                    HandshakeFrames.OTHER_VERSION,
                    "the peer speaks version " + version + " of the wire protocol, this process "
                            + HandshakeFrames.VERSION + "; run the same release in all processes");
        } else {
            onFrame(type, frame, nowNs);
        }
    }

    static MalformedFrameException outOfTurn(byte type) {
        return new MalformedFrameException("frame " + type + " out of turn");
    }

    final void rejectSecret() {
        reject(HandshakeFrames.OTHER_SECRET, Rejection.describe(HandshakeFrames.OTHER_SECRET));
    }

    final void rejectIfLate(long nowNs) {
        if (deadlineNs - nowNs <= 0 && isTimed()) {
            reject(HandshakeFrames.TOO_SLOW, manager.tooSlow());
        }
    }

    /** Sends the peer a {@link HandshakeFrames#REJECT} code and ends the handshake. */
    public final void reject(byte code, String reason) {
        end(HandshakeFrames.reject(code), reason, Rejection.isDecided(code));
    }

    /** Ends the handshake without a frame: the line broke, or is to be closed. */
    public final void fail(String reason, boolean decided) {
        end(NOTHING, reason, decided);
    }

    final void end(byte[] lastFrame, String reason, boolean decided) {
        if (!over) {
            over = true;
            onFailure(reason);
            line.failed(lastFrame, reason, decided);
            afterFailure(reason, decided);
        } else {
            lostAfterwards(reason);
        }
    }

    /** Called after the peer has been told. */
    void afterFailure(String reason, boolean decided) {}

    /** Called when the line breaks before it has become a connection. */
    void lostAfterwards(String reason) {}

    /** Both sides want the connection. */
    final void succeed(PendingConnection wanted, byte[] lastFrame) {
        over = true;
        line.established(wanted, lastFrame);
    }

    /** Whether the handshake is over; further frames are ignored. */
    public final boolean isOver() {
        return over;
    }
}
