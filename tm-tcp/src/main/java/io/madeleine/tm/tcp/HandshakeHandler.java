package io.madeleine.tm.tcp;

import io.madeleine.pmm.handshake.ConnectionManager;
import io.madeleine.pmm.handshake.Handshake;
import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.pmm.handshake.HandshakeLine;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.tls.TlsBinding;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.spi.TlsEngine;
import io.madeleine.tm.tcp.tls.TlsFailures;
import io.madeleine.tm.tcp.tls.TlsSide;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Carries the frames of a handshake over a Netty channel, each behind its length in two bytes, with TLS below if
 * enabled. Bytes behind the last frame belong to the packet stream; the handler keeps them.
 *
 * <p>Threading: confined to the event loop.
 */
final class HandshakeHandler extends ChannelInboundHandlerAdapter implements HandshakeLine {
    static final int LENGTH_BYTES = 2;

    private static final String TLS = "tls";
    private static final String DECODER = "frame-decoder";
    private static final String PREPENDER = "frame-prepender";

    /** The size of one read, and so the most bytes that are read behind the last frame. */
    private static final int READ_BYTES = HandshakeFrames.MAX_FRAME_BYTES + LENGTH_BYTES;

    /**
     * Room for certificate chains: if bytes are unread when a certificate is refused, the kernel resets the
     * connection.
     */
    private static final int TLS_READ_BYTES = 16 * 1024;

    private final Host host;
    private final @Nullable TlsSide tls;
    private final @Nullable Caller call;
    private @Nullable Handshake handshake;
    private @Nullable ChannelHandlerContext context;
    private String remote = "an unknown address";
    private byte[] leftover = {};
    private byte[] undecrypted = {};
    private boolean unwrapped;

    /** The owner of the handshakes. */
    interface Host {
        ConnectionManager connections();

        /** The next deadline may be nearer than before. */
        void deadlinesChanged();

        /** Makes a connection of a channel whose handshake is over. */
        void establish(HandshakeHandler through, PendingConnection wanted);
    }

    /** The initiator of a connection. */
    interface Caller {
        PendingConnection wanted();

        /** Reports a failed attempt; {@code decided} if another attempt is useless. */
        void failed(String reason, boolean decided);
    }

    /** The length field of a frame contains the first bytes of a TLS record. */
    private static final class TlsRecordException extends DecoderException {
        private static final long serialVersionUID = 1L;
    }

    /** Splits the stream into frames, each behind its length in two bytes. */
    private static final class FrameDecoder extends LengthFieldBasedFrameDecoder {
        private static final int TLS_HANDSHAKE = 0x1603;

        FrameDecoder() {
            super(HandshakeFrames.MAX_FRAME_BYTES, 0, LENGTH_BYTES, 0, LENGTH_BYTES);
        }

        @Override
        @SuppressWarnings("deprecation") // because of the byte order, which is big-endian here
        protected long getUnadjustedFrameLength(ByteBuf bytes, int offset, int length, java.nio.ByteOrder order) {
            long frameBytes = super.getUnadjustedFrameLength(bytes, offset, length, order);
            if (frameBytes == TLS_HANDSHAKE) {
                throw new TlsRecordException();
            }
            return frameBytes;
        }
    }

    /** The handler of an accepted channel ({@code call} is null) or of an outgoing one. */
    HandshakeHandler(Host host, @Nullable TlsSide tls, @Nullable Caller call) {
        this.host = host;
        this.tls = tls;
        this.call = call;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        added.channel()
                .config()
                .setRecvByteBufAllocator(new FixedRecvByteBufAllocator(tls == null ? READ_BYTES : TLS_READ_BYTES));
        added.pipeline()
                .addFirst(DECODER, new FrameDecoder())
                .addFirst(PREPENDER, new LengthFieldPrepender(LENGTH_BYTES));
        if (tls != null) {
            added.pipeline().addFirst(TLS, tls.handler());
        }
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not in a pipeline yet");
        }
        return context;
    }

    Channel channel() {
        return context().channel();
    }

    private boolean isOver() {
        return handshake != null && handshake.isOver();
    }

    // ---- calls of Netty

    @Override
    public void channelActive(ChannelHandlerContext active) {
        remote = String.valueOf(active.channel().remoteAddress());
        long nowNs = System.nanoTime();
        Handshake begun = call == null
                ? host.connections().accept(this, nowNs)
                : host.connections().call(call.wanted(), this, nowNs);
        handshake = begun;
        host.deadlinesChanged();
        if (tls == null) {
            begun.start();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext unused, Object message) {
        ByteBuf frame = (ByteBuf) message;
        try {
            if (unwrapped) {
                undecrypted = concat(undecrypted, ByteBufUtil.getBytes(frame));
            } else if (isOver()) {
                leftover = concat(leftover, ByteBufUtil.getBytes(frame));
            } else if (handshake != null) {
                handshake.receive(ByteBuffer.wrap(ByteBufUtil.getBytes(frame)), System.nanoTime());
                host.deadlinesChanged();
            }
        } finally {
            frame.release();
        }
    }

    private static byte[] concat(byte[] first, byte[] second) {
        return ByteBuffer.allocate(first.length + second.length)
                .put(first)
                .put(second)
                .array();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext at, Object event) {
        if (event instanceof SslHandshakeCompletionEvent completion && tls != null && handshake != null && !isOver()) {
            try {
                if (!completion.isSuccess()) {
                    throw completion.cause();
                }
                SSLEngine engine = tls.handler().engine();
                TlsEngine implementation = tls.implementation();
                handshake.start(TlsBinding.checked(
                        implementation.kind(), implementation.keyingMaterial(engine), engine.getSession()));
            } catch (Throwable cause) {
                tlsFailed(tls.handler(), cause);
            }
        }
    }

    /**
     * Reports a TLS failure. TLS tells the peer by an alert; a peer without TLS cannot read that, so it gets a reject
     * frame.
     */
    private void tlsFailed(SslHandler handler, Throwable cause) {
        if (TlsFailures.isNoTls(cause)) {
            ChannelHandlerContext below = context().pipeline().context(handler);
            if (below != null) {
                byte[] reject = HandshakeFrames.reject(HandshakeFrames.TLS_NEEDED);
                below.writeAndFlush(Unpooled.buffer().writeShort(reject.length).writeBytes(reject));
            }
        }
        fail(TlsFailures.describe(cause), TlsFailures.isDecided(cause));
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        fail("the peer closed the connection during the handshake", false);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext at, Throwable cause) {
        switch (cause) {
            case DecoderException e
            when tls != null && e.getCause() instanceof SSLException refusal -> tlsFailed(tls.handler(), refusal);
            case TlsRecordException _
            when handshake != null && !isOver() ->
                handshake.reject(
                        HandshakeFrames.TLS_NOT_SPOKEN,
                        "the peer speaks TLS, this process does not; set " + TcpConfig.PATH
                                + ".tls.enabled alike in all processes");
            case DecoderException _ -> fail("the peer sent bytes that are not a handshake frame", true);
            default -> fail("the connection broke during the handshake: " + cause.getMessage(), false);
        }
    }

    private void fail(String reason, boolean decided) {
        if (handshake != null && !isOver()) {
            handshake.fail(reason, decided);
        }
    }

    // ---- calls of the handshake

    @Override
    public String remote() {
        return remote;
    }

    @Override
    public void send(byte[] frame) {
        context().writeAndFlush(Unpooled.wrappedBuffer(frame));
    }

    @Override
    public void failed(byte[] lastFrame, String reason, boolean decided) {
        if (lastFrame.length == 0) {
            context().close();
        } else {
            context().writeAndFlush(Unpooled.wrappedBuffer(lastFrame)).addListener(ChannelFutureListener.CLOSE);
        }
        if (call != null) {
            call.failed(reason, decided);
        }
    }

    /** Ends the handshake. Bytes read through the pipeline from now on are kept as leftover. */
    @Override
    public void established(PendingConnection wanted, byte[] lastFrame) {
        channel().config().setAutoRead(false);
        context().pipeline().remove(DECODER); // passes its remaining bytes to channelRead
        if (lastFrame.length == 0) {
            host.establish(this, wanted);
        } else if (leftover.length > 0) {
            broken("the peer sent packets before it was accepted"); // a correct peer never does
        } else {
            context().writeAndFlush(Unpooled.wrappedBuffer(lastFrame)).addListener(written -> {
                if (written.isSuccess()) {
                    host.establish(this, wanted);
                } else {
                    broken("the connection broke during the handshake");
                }
            });
        }
    }

    private void broken(String reason) {
        context().close();
        if (handshake != null) {
            handshake.fail(reason, false);
        }
    }

    // ---- handing the channel over

    /**
     * Takes TLS out of the pipeline. Bytes that are not decrypted are then in {@link #undecrypted}. Ownership: the
     * caller releases the engine.
     */
    @Nullable
    SSLEngine takeEngine() {
        TlsSide side = tls;
        if (side == null) {
            return null;
        }
        unwrapped = true;
        SSLEngine engine = side.handler().engine();
        ReferenceCountUtil.retain(engine); // the handler releases it when it is removed
        context().pipeline().remove(side.handler());
        return engine;
    }

    /** The bytes that were read from the socket and not decrypted. */
    byte[] undecrypted() {
        return undecrypted;
    }

    /** The bytes that were read behind the last frame. */
    ByteBuffer leftover() {
        return ByteBuffer.wrap(leftover);
    }

    /** Replaces this handler in the pipeline; the successor receives all further bytes. */
    void replaceBy(ChannelHandler successor) {
        context().pipeline().remove(PREPENDER);
        context().pipeline().replace(this, null, successor);
    }
}
