package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * What a fuzzer calls with bytes of its own as the peer's part of a handshake. The first byte says how far a true peer comes
 * before: with a proof, the fuzzer's bytes are the body that is read behind it.
 */
public final class HandshakeFuzz {
    private static final byte[] SECRET = "secret".getBytes(StandardCharsets.UTF_8);
    private static final NettyReactor REACTOR = new NettyReactor(TcpIo.NIO); // which nobody runs
    private static final int MAX_ANSWER_BYTES = 4096;
    private static final ProcessIdentity SELF = new ProcessIdentity(1, 0);
    private static final ProcessIdentity PEER = new ProcessIdentity(2, 0);
    private static final Handshake.Join JOIN = new Handshake.Join("session", "main", PEER, SELF, 42);

    private HandshakeFuzz() {}

    /** One attempt. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        if (input.length < 2) {
            return;
        }
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        switch (input[0] & 3) {
            case 0 -> strange(answering(), bytes);
            case 1 -> strange(calling(), bytes);
            case 2 -> provenJoin(bytes);
            default -> provenVerdict(bytes);
        }
    }

    private static EmbeddedChannel answering() {
        EmbeddedChannel channel = new EmbeddedChannel();
        ProcessContext context = new ProcessContext("session", SELF, SECRET, REACTOR, new Pair.RecordingLogger());
        TcpConfig.HandshakeConfig limits = new TcpConfig.HandshakeConfig(TimeUnit.SECONDS.toNanos(10), 16, 1_000_000);
        Lobby lobby = new Lobby(context, limits, channel.eventLoop(), (_, _) -> {});
        channel.pipeline().addLast(new AnsweringHandshake(SECRET, limits.timeoutNs(), null, lobby));
        channel.pipeline().fireChannelActive();
        return channel;
    }

    private static EmbeddedChannel calling() {
        return calling(new boolean[1]);
    }

    private static EmbeddedChannel calling(boolean[] accepted) {
        EmbeddedChannel channel = new EmbeddedChannel();
        CallingHandshake.Caller caller = new CallingHandshake.Caller() {
            @Override
            public void challenged() {}

            @Override
            public void accepted(CallingHandshake handshake) {
                accepted[0] = true;
            }

            @Override
            public void failed(String reason, boolean decided) {
                if (reason.isEmpty()) {
                    throw new AssertionError("a failure without a reason");
                }
            }
        };
        channel.pipeline().addLast(new CallingHandshake(SECRET, JOIN, TimeUnit.SECONDS.toNanos(10), null, caller));
        channel.pipeline().fireChannelActive();
        return channel;
    }

    /** Nothing but the fuzzer's bytes, in two pieces. */
    private static void strange(EmbeddedChannel channel, byte[] bytes) {
        int cut = Byte.toUnsignedInt(bytes[0]) % bytes.length;
        feed(channel, Unpooled.copiedBuffer(bytes, 0, cut));
        feed(channel, Unpooled.copiedBuffer(bytes, cut, bytes.length - cut));
        end(channel);
    }

    private static void provenJoin(byte[] body) throws Exception {
        EmbeddedChannel channel = answering();
        Handshake peer = Handshake.initiator(SECRET);
        feed(channel, framed(peer.hello()));
        ByteBuf challenge = nextFrame(channel);
        challenge.skipBytes(1 + Integer.BYTES + Short.BYTES);
        if (!peer.readChallenge(challenge)) {
            throw new AssertionError("the acceptor's proof");
        }
        feed(channel, framed(peer.proven(Handshake.JOIN, Unpooled.wrappedBuffer(limited(body)))));
        end(channel);
    }

    private static void provenVerdict(byte[] body) throws Exception {
        boolean[] accepted = new boolean[1];
        EmbeddedChannel channel = calling(accepted);
        ByteBuf hello = nextFrame(channel);
        hello.skipBytes(1 + Integer.BYTES + Short.BYTES);
        byte[] nonce = new byte[Handshake.NONCE_BYTES];
        hello.readBytes(nonce);
        Handshake peer = Handshake.acceptor(SECRET, nonce);
        feed(channel, framed(peer.challenge()));
        feed(channel, framed(peer.proven(Handshake.VERDICT, Unpooled.wrappedBuffer(limited(body)))));
        if (accepted[0] != (body[0] == 1)) {
            throw new AssertionError("accepted " + accepted[0] + " on " + body[0]);
        }
        end(channel);
    }

    /** A JOIN as it should be, behind its proof. */
    static ByteBuf bodyOfJoin() {
        return Handshake.initiator(SECRET).join(JOIN).skipBytes(1 + Handshake.PROOF_BYTES);
    }

    private static byte[] limited(byte[] body) {
        return body.length <= 1900 ? body : Arrays.copyOf(body, 1900);
    }

    private static ByteBuf framed(ByteBuf frame) {
        return Unpooled.buffer().writeShort(frame.readableBytes()).writeBytes(frame);
    }

    private static ByteBuf nextFrame(EmbeddedChannel channel) {
        ByteBuf whole = Unpooled.buffer();
        for (ByteBuf part; (part = channel.readOutbound()) != null; ) {
            whole.writeBytes(part);
        }
        return whole.skipBytes(Handshake.LENGTH_BYTES);
    }

    private static void feed(EmbeddedChannel channel, ByteBuf bytes) {
        if (channel.isOpen()) {
            channel.writeInbound(bytes);
        }
    }

    /** Whatever came: no exception went by the handshake, and little was said. */
    private static void end(EmbeddedChannel channel) {
        channel.checkException();
        int said = 0;
        for (ByteBuf part; (part = channel.readOutbound()) != null; ) {
            said += part.readableBytes();
        }
        if (said > MAX_ANSWER_BYTES) {
            throw new AssertionError("an answer of " + said + " bytes");
        }
        channel.close();
    }
}
