package io.madeleine.tm.tcp;

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
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * What both sides' handshakes have in common: frames and their checks, the time limit, and what is read behind the last
 * frame, which belongs to the packet stream and must not be lost.
 *
 * <p>Threading: confined to the event loop.
 */
abstract class HandshakeHandler extends ChannelInboundHandlerAdapter {
    private static final String TLS = "tls";
    private static final String DECODER = "frame-decoder";
    private static final String PREPENDER = "frame-prepender";

    /** What is read behind the last frame is at most one buffer. */
    private static final int READ_BYTES = Handshake.MAX_FRAME_BYTES + Handshake.LENGTH_BYTES;

    /** Room for certificates: what has not been read when one is refused would make the kernel reset the connection. */
    private static final int TLS_READ_BYTES = 16 * 1024;

    private final long timeoutNs;
    private final @Nullable TlsSide tls;
    private @Nullable TlsBinding binding;
    private @Nullable ChannelHandlerContext context;
    private boolean over;
    private byte[] leftover = {};
    private byte[] undecrypted = {};
    private boolean unwrapped;

    /** A frame's length that begins a record of TLS instead. */
    private static final class TlsRecordException extends DecoderException {
        private static final long serialVersionUID = 1L;
    }

    /** Frames after their length in two bytes. */
    private static final class FrameDecoder extends LengthFieldBasedFrameDecoder {
        private static final int TLS_HANDSHAKE = 0x1603;

        FrameDecoder() {
            super(Handshake.MAX_FRAME_BYTES, 0, Handshake.LENGTH_BYTES, 0, Handshake.LENGTH_BYTES);
        }

        @Override
        @SuppressWarnings("deprecation") // of the byte order, which is the usual one here
        protected long getUnadjustedFrameLength(ByteBuf bytes, int offset, int length, java.nio.ByteOrder order) {
            long frameBytes = super.getUnadjustedFrameLength(bytes, offset, length, order);
            if (frameBytes == TLS_HANDSHAKE) {
                throw new TlsRecordException();
            }
            return frameBytes;
        }
    }

    HandshakeHandler(long timeoutNs, @Nullable TlsSide tls) {
        this.timeoutNs = timeoutNs;
        this.tls = tls;
    }

    /** Handles a frame, whose head has been read and checked. */
    abstract void onFrame(byte type, ByteBuf frame) throws Handshake.MalformedFrameException;

    /**
     * The handshake has failed; the connection is being closed. Called once, unless it was {@link #end() ended}.
     *
     * @param decided whether one side refused the other, so that trying again is useless
     */
    abstract void onFailure(String reason, boolean decided);

    abstract void onConnected();

    /** TLS has been agreed on, and the peer's certificate is good. */
    abstract void onSecured();

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        added.channel()
                .config()
                .setRecvByteBufAllocator(new FixedRecvByteBufAllocator(isSecured() ? TLS_READ_BYTES : READ_BYTES));
        added.pipeline()
                .addFirst(DECODER, new FrameDecoder())
                .addFirst(PREPENDER, new LengthFieldPrepender(Handshake.LENGTH_BYTES));
        if (tls != null) {
            added.pipeline().addFirst(TLS, tls.handler());
        }
        added.executor().schedule(this::timedOut, timeoutNs, TimeUnit.NANOSECONDS);
    }

    /** Whether the limit of time for this part of the handshake still counts. */
    abstract boolean isTimed();

    private void timedOut() {
        if (!over && isTimed()) {
            reject(
                    Handshake.TOO_SLOW,
                    "the handshake took longer than " + TimeUnit.NANOSECONDS.toMillis(timeoutNs)
                            + " ms (madeleine.tm.tcp.handshake.timeout)");
        }
    }

    final ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not in a pipeline yet");
        }
        return context;
    }

    final void send(ByteBuf frame) {
        context().writeAndFlush(frame);
    }

    /** Tells the peer and gives up. */
    final void reject(byte code, String reason) {
        if (!over) {
            over = true;
            context().writeAndFlush(Handshake.reject(code)).addListener(ChannelFutureListener.CLOSE);
            onFailure(reason, isDecided(code));
        }
    }

    /** Who was too slow may be faster the next time. */
    private static boolean isDecided(byte code) {
        return code != Handshake.TOO_SLOW;
    }

    /** Gives up without a word. */
    final void fail(String reason, boolean decided) {
        if (!over) {
            over = true;
            context().close();
            onFailure(reason, decided);
        }
    }

    /** Ends the handshake. What is read through the pipeline from now on is left over. */
    final void end() {
        over = true;
        context().channel().config().setAutoRead(false);
        context().pipeline().remove(DECODER); // passes what it has on to channelRead
    }

    /** Whether bytes go through TLS. */
    final boolean isSecured() {
        return tls != null;
    }

    /** What names the TLS session; null without TLS, and until it is agreed on. */
    final @Nullable TlsBinding binding() {
        return binding;
    }

    /** Takes TLS out of the pipeline; what it has not decrypted is {@link #undecrypted}. After {@link #end}. */
    final @Nullable SSLEngine takeEngine() {
        TlsSide side = tls;
        if (side == null) {
            return null;
        }
        unwrapped = true;
        SSLEngine engine = side.handler().engine();
        ReferenceCountUtil.retain(engine); // the handler lets go of it
        context().pipeline().remove(side.handler());
        return engine;
    }

    /** What has been read of the socket and not been decrypted. */
    final byte[] undecrypted() {
        return undecrypted;
    }

    /** What has been read behind the handshake. */
    final ByteBuffer leftover() {
        return ByteBuffer.wrap(leftover);
    }

    /** Leaves the pipeline to another, to which all that comes belongs. */
    final void replaceBy(ChannelHandler successor) {
        context().pipeline().remove(PREPENDER);
        context().pipeline().replace(this, null, successor);
    }

    final Channel channel() {
        return context().channel();
    }

    @Override
    public void channelActive(ChannelHandlerContext active) {
        onConnected();
    }

    @Override
    public void channelRead(ChannelHandlerContext unused, Object message) throws Handshake.MalformedFrameException {
        ByteBuf frame = (ByteBuf) message;
        try {
            if (unwrapped) {
                undecrypted = concat(undecrypted, ByteBufUtil.getBytes(frame));
            } else if (over) {
                leftover = concat(leftover, ByteBufUtil.getBytes(frame));
            } else {
                read(frame);
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

    private void read(ByteBuf frame) throws Handshake.MalformedFrameException {
        if (!frame.isReadable()) {
            throw new Handshake.MalformedFrameException("an empty frame");
        }
        byte type = frame.readByte();
        if (type == Handshake.JOIN || type == Handshake.VERDICT) {
            onFrame(type, frame);
            return;
        }
        if (frame.readableBytes() < Integer.BYTES + Short.BYTES || frame.readInt() != Handshake.MAGIC) {
            throw new Handshake.MalformedFrameException("no Madeleine frame");
        }
        int version = frame.readUnsignedShort();
        if (type == Handshake.REJECT) {
            Handshake.need(frame, 1, "REJECT");
            String versions = version == Handshake.VERSION
                    ? ""
                    : " (it has " + version + ", this process " + Handshake.VERSION + ")";
            byte code = frame.readByte();
            fail("the peer refused: " + Handshake.describe(code) + versions, isDecided(code));
        } else if (version != Handshake.VERSION) {
            reject(
                    Handshake.OTHER_VERSION,
                    "the peer speaks version " + version + " of the wire protocol, this process " + Handshake.VERSION
                            + "; run the same release in all processes");
        } else {
            onFrame(type, frame);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext at, Object event) {
        if (event instanceof SslHandshakeCompletionEvent completion && tls != null && !over) {
            try {
                if (!completion.isSuccess()) {
                    throw completion.cause();
                }
                binding = TlsBinding.checked(tls.implementation(), tls.handler().engine());
                onSecured();
            } catch (Throwable cause) {
                tlsFailed(tls.handler(), cause);
            }
        }
    }

    /** TLS tells the peer by an alert what it does not like; a peer without TLS cannot read that. */
    private void tlsFailed(SslHandler handler, Throwable cause) {
        if (TlsFailures.isNoTls(cause)) {
            ChannelHandlerContext below = context().pipeline().context(handler);
            if (below != null) {
                ByteBuf reject = Handshake.reject(Handshake.TLS_NEEDED);
                below.write(Unpooled.buffer().writeShort(reject.readableBytes()));
                below.writeAndFlush(reject);
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
            case Handshake.MalformedFrameException e ->
                reject(Handshake.MALFORMED, "the peer sent something else than the handshake: " + e.getMessage());
            case DecoderException e
            when tls != null && e.getCause() instanceof SSLException refusal -> tlsFailed(tls.handler(), refusal);
            case TlsRecordException _ ->
                reject(
                        Handshake.TLS_NOT_SPOKEN,
                        "the peer speaks TLS, this process does not; set " + TcpConfig.PATH
                                + ".tls.enabled alike in all processes");
            case DecoderException _ -> fail("the peer sent something else than the handshake", true);
            default -> fail("the connection broke during the handshake: " + cause.getMessage(), false);
        }
    }
}
