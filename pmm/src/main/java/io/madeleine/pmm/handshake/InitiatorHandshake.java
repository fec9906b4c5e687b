package io.madeleine.pmm.handshake;

import java.nio.ByteBuffer;

/**
 * The initiator's side of a handshake.
 *
 * <p>Threading: as for its {@link ConnectionManager}.
 */
final class InitiatorHandshake extends Handshake {
    private final HandshakeFrames frames;
    private final PendingConnection wanted;
    private boolean greeted;
    private boolean challenged;

    InitiatorHandshake(ConnectionManager manager, HandshakeLine line, PendingConnection wanted, long deadlineNs) {
        super(manager, line, deadlineNs);
        this.frames = HandshakeFrames.initiator(manager.secret());
        this.wanted = wanted;
    }

    @Override
    public void start() {
        greeted = true;
        line.send(frames.hello());
    }

    /** Sends nothing: the peer's READY comes first. */
    @Override
    void startBound(ChannelBinding protectedLine) {}

    /** False after the challenge: the peer may then wait until it requests the connection too. */
    @Override
    boolean isTimed() {
        return !challenged;
    }

    @Override
    void onFrame(byte type, ByteBuffer frame, long nowNs) throws MalformedFrameException {
        ChannelBinding bound = binding;
        if (type == HandshakeFrames.READY && !greeted && bound != null) {
            HandshakeFrames.need(frame, 1, "READY");
            frames.bind(bound.with(frame.get(), true));
            greeted = true;
            line.send(frames.hello(bound.kind()));
        } else if (type == HandshakeFrames.CHALLENGE && greeted && !challenged) {
            challenged = true;
            if (frames.readChallenge(frame)) {
                wanted.note("the peer has not requested this connection from its side");
                line.send(frames.join(manager.join(wanted)));
            } else {
                rejectSecret();
            }
        } else if (type == HandshakeFrames.VERDICT && challenged) {
            judge(frame);
        } else {
            throw outOfTurn(type);
        }
    }

    private void judge(ByteBuffer frame) throws MalformedFrameException {
        if (!frames.readProven(HandshakeFrames.VERDICT, frame)) {
            throw new MalformedFrameException("a VERDICT whose proof does not hold");
        }
        String refusal = HandshakeFrames.readVerdict(frame);
        if (!refusal.isEmpty()) {
            fail("the peer refused: " + refusal, true);
        } else if (wanted.isDone()) {
            fail("it is not wanted any more", true);
        } else {
            manager.callEnded(this);
            succeed(wanted, NOTHING);
        }
    }

    @Override
    void onFailure(String reason) {
        manager.callEnded(this);
        wanted.note(reason);
    }

    /** Fails the request if one side refused; otherwise the driver may call again until the deadline. */
    @Override
    void afterFailure(String reason, boolean decided) {
        if (decided) {
            boolean _ = wanted.fail(reason);
        }
    }

    /** Ends the handshake if its request is completed, failed or cancelled. */
    void endIfFor(PendingConnection done) {
        if (done == wanted) {
            fail("it is not wanted any more", true);
        }
    }
}
