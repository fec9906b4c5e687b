package io.madeleine.tm.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The acceptor's side of the handshake. Once authenticated it waits in the {@link Lobby} until this process wants the
 * connection.
 *
 * <p>Threading: confined to the event loop.
 */
final class AnsweringHandshake extends HandshakeHandler {
    private final byte[] secret;
    private final Lobby lobby;
    private @Nullable Handshake handshake;
    private Handshake.@Nullable Join join;

    AnsweringHandshake(byte[] secret, long timeoutNs, @Nullable TlsSide tls, Lobby lobby) {
        super(timeoutNs, tls);
        this.secret = secret;
        this.lobby = lobby;
    }

    /** What the authenticated peer wants. */
    Handshake.Join join() {
        if (join == null) {
            throw new IllegalStateException("not authenticated yet");
        }
        return join;
    }

    private Handshake handshake() {
        if (handshake == null) {
            throw new IllegalStateException("nothing said yet");
        }
        return handshake;
    }

    @Override
    void onConnected() {
        lobby.entered(this);
    }

    @Override
    void onSecured() {
        send(Handshake.ready(Objects.requireNonNull(binding()).kind()));
    }

    @Override
    boolean isTimed() {
        return join == null;
    }

    @Override
    void onFrame(byte type, ByteBuf frame) throws Handshake.MalformedFrameException {
        lobby.spoke(this);
        if (type == Handshake.HELLO && handshake == null) {
            TlsBinding bound = binding();
            Handshake.need(frame, Handshake.NONCE_BYTES + (bound == null ? 0 : 1), "HELLO");
            byte[] nonce = new byte[Handshake.NONCE_BYTES];
            frame.readBytes(nonce);
            Handshake begun = Handshake.acceptor(secret, nonce);
            if (bound != null) {
                begun.bind(bound.with(frame.readByte(), false));
            }
            handshake = begun;
            send(begun.challenge());
        } else if (type == Handshake.JOIN && handshake != null && join == null) {
            if (handshake.readProven(Handshake.JOIN, frame)) {
                join = Handshake.readJoin(frame);
                lobby.authenticated(this);
            } else {
                reject(Handshake.OTHER_SECRET, Handshake.describe(Handshake.OTHER_SECRET));
            }
        } else {
            throw new Handshake.MalformedFrameException("frame " + type + " out of turn");
        }
    }

    /** Tells the peer that it is welcome, and then {@code made}, unless the connection breaks. */
    void accept(Runnable made) {
        end();
        if (leftover().hasRemaining()) {
            channel().close(); // packets before the verdict: not one of ours
            lobby.failed(this, "the peer sent packets before it was accepted");
            return;
        }
        context().writeAndFlush(handshake().accepted()).addListener(written -> {
            if (written.isSuccess()) {
                made.run();
            } else {
                channel().close();
                lobby.failed(this, "the connection broke during the handshake");
            }
        });
    }

    void refuse(String reason) {
        end();
        context().writeAndFlush(handshake().refused(reason)).addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    void onFailure(String reason, boolean decided) {
        lobby.failed(this, reason);
    }
}
