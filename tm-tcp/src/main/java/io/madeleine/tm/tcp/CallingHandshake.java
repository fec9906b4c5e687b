package io.madeleine.tm.tcp;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The initiator's side of the handshake.
 *
 * <p>Threading: confined to the event loop.
 */
final class CallingHandshake extends HandshakeHandler {
    /** Who called. */
    interface Caller {
        /** The peer is the one that was meant; it has to want the connection, too. */
        void challenged();

        /** The peer has accepted. */
        void accepted(CallingHandshake handshake);

        /** It came to nothing; if {@code decided}, trying again is useless. */
        void failed(String reason, boolean decided);
    }

    private final Handshake handshake;
    private final Handshake.Join join;
    private final Caller caller;
    private boolean greeted;
    private boolean challenged;

    CallingHandshake(byte[] secret, Handshake.Join join, long timeoutNs, @Nullable TlsSide tls, Caller caller) {
        super(timeoutNs, tls);
        this.handshake = Handshake.initiator(secret);
        this.join = join;
        this.caller = caller;
    }

    @Override
    void onConnected() {
        if (!isSecured()) {
            greet();
        }
    }

    /** The peer's READY comes next. */
    @Override
    void onSecured() {}

    private void greet() {
        greeted = true;
        ByteBuf hello = handshake.hello();
        TlsBinding bound = binding();
        send(bound == null ? hello : hello.writeByte(bound.kind()));
    }

    /** After the challenge, the peer may take its time until it wants the connection, too. */
    @Override
    boolean isTimed() {
        return !challenged;
    }

    @Override
    void onFrame(byte type, ByteBuf frame) throws Handshake.MalformedFrameException {
        TlsBinding bound = binding();
        if (type == Handshake.READY && !greeted && bound != null) {
            Handshake.need(frame, 1, "READY");
            handshake.bind(bound.with(frame.readByte(), true));
            greet();
        } else if (type == Handshake.CHALLENGE && greeted && !challenged) {
            challenged = true;
            if (handshake.readChallenge(frame)) {
                caller.challenged();
                send(handshake.join(join));
            } else {
                reject(Handshake.OTHER_SECRET, Handshake.describe(Handshake.OTHER_SECRET));
            }
        } else if (type == Handshake.VERDICT && challenged) {
            if (!handshake.readProven(Handshake.VERDICT, frame)) {
                throw new Handshake.MalformedFrameException("a VERDICT whose proof does not hold");
            }
            String refusal = Handshake.readVerdict(frame);
            if (refusal.isEmpty()) {
                end();
                caller.accepted(this);
            } else {
                fail("the peer refused: " + refusal, true);
            }
        } else {
            throw new Handshake.MalformedFrameException("frame " + type + " out of turn");
        }
    }

    @Override
    void onFailure(String reason, boolean decided) {
        caller.failed(reason, decided);
    }
}
