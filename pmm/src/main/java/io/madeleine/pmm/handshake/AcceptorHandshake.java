package io.madeleine.pmm.handshake;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The acceptor's side of a handshake. After it has authenticated the peer, it waits until this process requests the
 * connection too.
 *
 * <p>Threading: as for its {@link ConnectionManager}.
 */
final class AcceptorHandshake extends Handshake {
    private @Nullable HandshakeFrames frames;
    private HandshakeFrames.@Nullable Join join;
    private @Nullable PendingConnection granted;

    AcceptorHandshake(ConnectionManager manager, HandshakeLine line, long deadlineNs) {
        super(manager, line, deadlineNs);
    }

    /** The request of the authenticated peer. */
    HandshakeFrames.Join join() {
        if (join == null) {
            throw new IllegalStateException("not authenticated yet");
        }
        return join;
    }

    private HandshakeFrames frames() {
        if (frames == null) {
            throw new IllegalStateException("nothing said yet");
        }
        return frames;
    }

    /** Sends nothing: the peer's HELLO comes first. */
    @Override
    public void start() {}

    @Override
    void startBound(ChannelBinding protectedLine) {
        line.send(HandshakeFrames.ready(protectedLine.kind()));
    }

    @Override
    boolean isTimed() {
        return join == null;
    }

    @Override
    void onFrame(byte type, ByteBuffer frame, long nowNs) throws MalformedFrameException {
        manager.heard(this);
        if (type == HandshakeFrames.HELLO && frames == null) {
            challenge(frame);
        } else if (type == HandshakeFrames.JOIN && frames != null && join == null) {
            if (frames.readProven(HandshakeFrames.JOIN, frame)) {
                join = HandshakeFrames.readJoin(frame);
                manager.authenticated(this, nowNs);
            } else {
                rejectSecret();
            }
        } else {
            throw outOfTurn(type);
        }
    }

    private void challenge(ByteBuffer frame) throws MalformedFrameException {
        ChannelBinding bound = binding;
        HandshakeFrames.need(frame, HandshakeFrames.NONCE_BYTES + (bound == null ? 0 : 1), "HELLO");
        HandshakeFrames begun =
                HandshakeFrames.acceptor(manager.secret(), HandshakeFrames.bytes(frame, HandshakeFrames.NONCE_BYTES));
        if (bound != null) {
            begun.bind(bound.with(frame.get(), false));
        }
        frames = begun;
        line.send(begun.challenge());
    }

    /** This process requests the connection too. */
    void accept(PendingConnection wanted) {
        granted = wanted;
        succeed(wanted, frames().accepted());
    }

    /** This process refuses the connection; the peer is told why. */
    void refuse(String reason) {
        end(frames().refused(reason), reason, true);
    }

    @Override
    void onFailure(String reason) {
        manager.acceptFailed(this, reason);
    }

    /** Requests the connection again, because the peer may try again. */
    @Override
    void lostAfterwards(String reason) {
        PendingConnection wanted = granted;
        granted = null;
        if (wanted != null) {
            manager.wantAgain(this, wanted, reason);
        }
    }
}
