package io.madeleine.tm.tcp;

import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.pmm.handshake.HandshakeLimits;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.testkit.RecordingLogger;
import io.madeleine.tm.tcp.reactor.IoTransport;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What a fuzzer calls with bytes of its own as the peer's part of a handshake. The first byte says how far a true peer
 * comes before: with a proof, the fuzzer's bytes are the body that is read behind it.
 */
public final class HandshakeFuzz {
    private static final byte[] SECRET = "secret".getBytes(StandardCharsets.UTF_8);
    private static final NettyReactor REACTOR = new NettyReactor(IoTransport.NIO); // which nobody runs
    private static final int MAX_ANSWER_BYTES = 4096;
    private static final int HEAD_BYTES = 1 + Integer.BYTES + Short.BYTES;
    private static final ProcessIdentity SELF = new ProcessIdentity(1, 0);
    private static final ProcessIdentity PEER = new ProcessIdentity(2, 0);
    private static final HandshakeFrames.Join JOIN = new HandshakeFrames.Join("session", "main", PEER, SELF, 42);

    private HandshakeFuzz() {}

    /** One attempt. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        if (input.length < 2) {
            return;
        }
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        switch (input[0] & 3) {
            case 0 -> strange(answering(), bytes);
            case 1 -> strange(calling(new Host()), bytes);
            case 2 -> provenJoin(bytes);
            default -> provenVerdict(bytes);
        }
    }

    private static final class Host implements HandshakeHandler.Host {
        private final ConnectionManager connections = new ConnectionManager(
                "tcp",
                new ProcessContext("session", SELF, SECRET, REACTOR, new RecordingLogger()),
                new HandshakeLimits(TimeUnit.SECONDS.toNanos(10), 16, 1_000_000, ""),
                Runnable::run);
        boolean established;

        @Override
        public ConnectionManager connections() {
            return connections;
        }

        @Override
        public void deadlinesChanged() {}

        @Override
        public void establish(HandshakeHandler through, PendingConnection wanted) {
            established = true;
        }
    }

    private static EmbeddedChannel answering() {
        return begun(new HandshakeHandler(new Host(), null, null));
    }

    private static EmbeddedChannel calling(Host host) {
        PendingConnection wanted = host.connections.prepare(
                "main", new ConnectionRequest(PEER, "", true, List.of(), 42, System.nanoTime() + 1_000_000_000L));
        host.connections.request(wanted);
        return begun(new HandshakeHandler(host, null, new HandshakeHandler.Caller() {
            @Override
            public PendingConnection wanted() {
                return wanted;
            }

            @Override
            public void failed(String reason, boolean decided) {
                if (reason.isEmpty()) {
                    throw new AssertionError("a failure without a reason");
                }
            }
        }));
    }

    private static EmbeddedChannel begun(HandshakeHandler handler) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.pipeline().addLast(handler);
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
        HandshakeFrames peer = HandshakeFrames.initiator(SECRET);
        feed(channel, framed(peer.hello()));
        ByteBuffer challenge = nextFrame(channel);
        challenge.position(challenge.position() + HEAD_BYTES);
        if (!peer.readChallenge(challenge)) {
            throw new AssertionError("the acceptor's proof");
        }
        feed(channel, framed(peer.proven(HandshakeFrames.JOIN, limited(body))));
        end(channel);
    }

    private static void provenVerdict(byte[] body) throws Exception {
        Host host = new Host();
        EmbeddedChannel channel = calling(host);
        ByteBuffer hello = nextFrame(channel);
        byte[] nonce = new byte[HandshakeFrames.NONCE_BYTES];
        hello.get(hello.position() + HEAD_BYTES, nonce);
        HandshakeFrames peer = HandshakeFrames.acceptor(SECRET, nonce);
        feed(channel, framed(peer.challenge()));
        feed(channel, framed(peer.proven(HandshakeFrames.VERDICT, limited(body))));
        if (host.established != (body[0] == 1)) {
            throw new AssertionError("accepted " + host.established + " on " + body[0]);
        }
        end(channel);
    }

    /** A JOIN as it should be, behind its proof. */
    static byte[] bodyOfJoin() {
        byte[] frame = HandshakeFrames.initiator(SECRET).join(JOIN);
        return Arrays.copyOfRange(frame, 1 + HandshakeFrames.PROOF_BYTES, frame.length);
    }

    private static byte[] limited(byte[] body) {
        return body.length <= 1900 ? body : Arrays.copyOf(body, 1900);
    }

    private static ByteBuf framed(byte[] frame) {
        return Unpooled.buffer().writeShort(frame.length).writeBytes(frame);
    }

    private static ByteBuffer nextFrame(EmbeddedChannel channel) {
        ByteBuf whole = Unpooled.buffer();
        for (ByteBuf part; (part = channel.readOutbound()) != null; ) {
            whole.writeBytes(part);
        }
        return whole.skipBytes(HandshakeHandler.LENGTH_BYTES).nioBuffer();
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
