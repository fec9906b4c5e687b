package io.madeleine.tm.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What both sides' handshakes have in common: frames and their checks, the time limit, and what is read behind the last
 * frame, which belongs to the packet stream and must not be lost.
 *
 * <p>Threading: confined to the event loop.
 */
abstract class HandshakeHandler extends ChannelInboundHandlerAdapter {
    private static final String DECODER = "frame-decoder";
    private static final String PREPENDER = "frame-prepender";

    /** What is read behind the last frame is at most one buffer. */
    private static final int READ_BYTES = Handshake.MAX_FRAME_BYTES + Handshake.LENGTH_BYTES;

    private final long timeoutNs;
    private @Nullable ChannelHandlerContext context;
    private boolean over;
    private byte[] leftover = {};

    HandshakeHandler(long timeoutNs) {
        this.timeoutNs = timeoutNs;
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

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        added.channel().config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(READ_BYTES));
        added.pipeline()
                .addFirst(
                        DECODER,
                        new LengthFieldBasedFrameDecoder(
                                Handshake.MAX_FRAME_BYTES, 0, Handshake.LENGTH_BYTES, 0, Handshake.LENGTH_BYTES))
                .addFirst(PREPENDER, new LengthFieldPrepender(Handshake.LENGTH_BYTES));
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
            onFailure(reason, true);
        }
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
            if (over) {
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
            fail("the peer refused: " + Handshake.describe(frame.readByte()) + versions, true);
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
    public void channelInactive(ChannelHandlerContext inactive) {
        fail("the peer closed the connection during the handshake", false);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext at, Throwable cause) {
        switch (cause) {
            case Handshake.MalformedFrameException e ->
                reject(Handshake.MALFORMED, "the peer sent something else than the handshake: " + e.getMessage());
            case DecoderException _ -> fail("the peer sent something else than the handshake", true);
            default -> fail("the connection broke during the handshake: " + cause.getMessage(), false);
        }
    }
}
