package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Wire;
import io.madeleine.pmm.WaitMode;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Netty with an event loop that the measuring thread itself turns, polling: no message changes threads. Small messages
 * are copied into a pooled buffer, large ones wrapped; streams are flushed in batches.
 *
 * <p>Threading: confined to caller.
 */
final class NettyWire implements Wire {
    private static final int COPIED_BYTES = 8 << 10;
    private static final int BATCH_MESSAGES = 64;
    private static final int BATCH_BYTES = 64 << 10;
    private static final int LOW_WATER_BYTES = 256 << 10;
    private static final int HIGH_WATER_BYTES = 1 << 20;
    private static final int MOST_READ_BYTES = 1 << 20;
    private static final long SLEEP_NS = TimeUnit.SECONDS.toNanos(1);

    private final ManualIoEventLoop loop;
    private final Inbox inbox;
    private final Channel channel;
    private final Idling idling;
    private int unflushed;
    private long unflushedBytes;

    private NettyWire(ManualIoEventLoop loop, WaitMode wait, Inbox inbox, Channel channel) {
        this.loop = loop;
        this.idling = new Idling(wait);
        this.inbox = inbox;
        this.channel = channel;
        channel.config().setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator(1 << 10, 16 << 10, MOST_READ_BYTES));
    }

    /** What has arrived and was not received yet. */
    private static final class Inbox extends ChannelInboundHandlerAdapter {
        private final ArrayDeque<ByteBuf> buffers = new ArrayDeque<>();
        private boolean closed;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            buffers.add((ByteBuf) message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            closed = true;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            closed = true;
        }
    }

    /** @param io nio, epoll, or empty for the better one of those there are */
    static NettyWire open(int rank, WaitMode wait, String io, ControlLine line) throws Exception {
        if (io.equals("epoll")) {
            Epoll.ensureAvailability();
        }
        boolean epoll = io.isEmpty() ? Epoll.isAvailable() : io.equals("epoll");
        IoHandlerFactory factory = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        ManualIoEventLoop loop = new ManualIoEventLoop(Thread.currentThread(), factory);
        Inbox inbox = new Inbox();
        InetAddress loopback = InetAddress.getLoopbackAddress();
        if (rank == 0) {
            int port = Integer.parseInt(line.exchangeContacts("-"));
            ChannelFuture connected = options(new Bootstrap()
                            .group(loop)
                            .channel(epoll ? EpollSocketChannel.class : NioSocketChannel.class)
                            .handler(inbox))
                    .connect(new InetSocketAddress(loopback, port));
            turnUntil(loop, connected::isDone);
            return new NettyWire(loop, wait, inbox, connected.sync().channel());
        }
        ArrayDeque<Channel> accepted = new ArrayDeque<>();
        Class<? extends ServerChannel> type = epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        ChannelFuture bound = new ServerBootstrap()
                .group(loop)
                .channel(type)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(inbox);
                        accepted.add(channel);
                    }
                })
                .bind(new InetSocketAddress(loopback, 0));
        turnUntil(loop, bound::isDone);
        Channel server = bound.sync().channel();
        line.exchangeContacts(Integer.toString(((InetSocketAddress) server.localAddress()).getPort()));
        turnUntil(loop, () -> !accepted.isEmpty());
        ChannelFuture closed = server.close();
        turnUntil(loop, closed::isDone);
        return new NettyWire(loop, wait, inbox, accepted.getFirst());
    }

    private static Bootstrap options(Bootstrap bootstrap) {
        return bootstrap
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark());
    }

    private static WriteBufferWaterMark waterMark() {
        return new WriteBufferWaterMark(LOW_WATER_BYTES, HIGH_WATER_BYTES);
    }

    private static void turnUntil(ManualIoEventLoop loop, BooleanSupplier done) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!done.getAsBoolean()) {
            loop.runNow();
            if (deadlineNs - System.nanoTime() < 0) {
                throw new MeasuringException("the other process does not connect");
            }
        }
    }

    @Override
    public void send(Block block, long bytes) {
        write(block, bytes);
        flush();
    }

    @Override
    public void stream(Block block, long bytes) {
        write(block, bytes);
        if (++unflushed == BATCH_MESSAGES || (unflushedBytes += bytes) >= BATCH_BYTES) {
            flush();
        }
    }

    private void write(Block block, long bytes) {
        int length = (int) bytes;
        ByteBuf message = bytes <= COPIED_BYTES
                ? channel.alloc()
                        .directBuffer(length)
                        .writeBytes(block.buffer().clear().limit(length))
                : Unpooled.wrappedBuffer(block.buffer().clear().limit(length));
        channel.write(message, channel.voidPromise());
    }

    @Override
    public void flush() {
        unflushed = 0;
        unflushedBytes = 0;
        channel.flush();
        for (int idle = 0; !channel.isWritable(); idle++) {
            turn(idle);
        }
    }

    @Override
    public void receive(Block block, long bytes) {
        int at = 0;
        for (int idle = 0; at < bytes; ) {
            ByteBuf next = inbox.buffers.peek();
            if (next == null) {
                turn(idle++);
                continue;
            }
            int count = (int) Math.min(bytes - at, next.readableBytes());
            next.readBytes(block.buffer().clear().position(at).limit(at + count));
            at += count;
            if (!next.isReadable()) {
                inbox.buffers.remove().release();
            }
            idle = 0;
        }
    }

    private void turn(int turn) {
        if (inbox.closed) {
            throw new MeasuringException("the other process has closed the connection");
        }
        switch (idling.next(turn)) {
            case POLL -> loop.runNow();
            case YIELD -> {
                Thread.yield();
                loop.runNow();
            }
            case SLEEP -> loop.run(SLEEP_NS);
        }
    }

    @Override
    public void close() {
        ChannelFuture closed = channel.close();
        turnUntil(loop, closed::isDone);
    }
}
