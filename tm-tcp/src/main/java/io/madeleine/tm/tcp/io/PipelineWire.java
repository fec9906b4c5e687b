package io.madeleine.tm.tcp.io;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Reactor;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A channel that stays in Netty's pipeline, for io_uring, where only the thread of the ring may read and write. Bytes
 * are copied to and from Netty's buffers, at most {@link #MAX_BYTES} in each direction, and handed over between the
 * threads.
 *
 * <p>Threading: the thread of the ring adds arrived bytes, the reading thread takes them; otherwise as {@link Wire}
 * says.
 */
public final class PipelineWire extends ChannelInboundHandlerAdapter implements Wire {
    private static final int MAX_BYTES = 256 * 1024;

    private final SocketChannel channel;
    private final Queue<ByteBuf> arrived = new ConcurrentLinkedQueue<>();

    /** Held while arrived bytes are taken, by the reading thread or at the end by the thread of the ring. */
    private final SpinLock taking = new SpinLock();

    private final AtomicInteger arrivedBytes = new AtomicInteger();
    private final AtomicInteger unsentBytes = new AtomicInteger();
    private final Queue<ByteBuf> toSend = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean sendRequested = new AtomicBoolean();

    /** Whether memory was too short to have queued bytes sent. Owned by the writing thread. */
    private boolean unrequested;

    /** Whether memory was too short to have reading resumed. Owned by the reading thread. */
    private boolean unresumed;

    private volatile boolean paused;
    private volatile boolean ended;
    private volatile boolean shutdownWanted;
    private volatile @Nullable Throwable fault;
    private Reactor.@Nullable ReadyHandler handler;

    public PipelineWire(Channel channel) {
        this.channel = (SocketChannel) channel;
    }

    @Override
    public boolean reachesUserMemory() {
        return false;
    }

    @Override
    public void register(Reactor.ReadyHandler receiverOfEvents) {
        handler = receiverOfEvents;
        SocketChannelConfig config = channel.config();
        config.setAllowHalfClosure(true);
        config.setAllocator(ByteBufAllocator.DEFAULT);
        config.setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator());
        config.setAutoRead(true);
    }

    /** Does nothing: bytes arrive as long as there is room, and each event ends a sleep. */
    @Override
    public void interest(int operations) {}

    private void ready(int operations) {
        Reactor.ReadyHandler receiver = handler;
        if (receiver != null) {
            receiver.onReady(operations);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        int count = bytes.readableBytes();
        try {
            arrived.add(bytes);
        } catch (OutOfMemoryError e) {
            fault = e; // these bytes are missing from the stream
            bytes.release();
            throw e;
        }
        if (arrivedBytes.addAndGet(count) > MAX_BYTES && !paused) {
            paused = true;
            channel.config().setAutoRead(false);
            resume(); // the reader may have taken all bytes before it could see the pause
        }
        ready(OP_READ);
    }

    /** Reads again if there is room. In the thread of the ring. */
    private void resume() {
        if (paused && arrivedBytes.get() < MAX_BYTES / 2) {
            paused = false;
            channel.config().setAutoRead(true);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            ended = true;
            ready(OP_READ);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        ended = true;
        ready(OP_READ);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(cause);
    }

    private void fail(Throwable cause) {
        if (fault == null) {
            fault = cause;
        }
        ready(OP_READ | OP_WRITE);
    }

    private static IOException failure(Throwable cause) {
        return cause instanceof IOException e ? e : new IOException(cause);
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        Throwable broken = fault;
        boolean last = ended;
        int read = takeArrived(target);
        if ((read > 0 || unresumed) && arrivedBytes.addAndGet(-read) < MAX_BYTES / 2 && paused) {
            requestResume();
        }
        if (read > 0) {
            return read;
        }
        if (broken != null) {
            throw failure(broken);
        }
        return last && target.hasRemaining() ? -1 : 0;
    }

    /** Asks the ring's thread to read again. If memory is too short for that, the next call of {@link #read} asks. */
    private void requestResume() {
        unresumed = false;
        try {
            inLoop(this::resume);
        } catch (OutOfMemoryError _) {
            unresumed = true;
        }
    }

    private int takeArrived(ByteBuffer target) {
        int read = 0;
        taking.lock();
        try {
            ByteBuf front;
            while (target.hasRemaining() && (front = arrived.peek()) != null) {
                read += take(front, target);
                if (!front.isReadable()) {
                    arrived.remove();
                    front.release();
                }
            }
        } finally {
            taking.unlock();
        }
        return read;
    }

    private static int take(ByteBuf source, ByteBuffer target) {
        int count = Math.min(source.readableBytes(), target.remaining());
        int limit = target.limit();
        source.readBytes(target.limit(target.position() + count));
        target.limit(limit);
        return count;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        Throwable broken = fault;
        if (broken != null) {
            throw failure(broken);
        }
        int count = Math.min(source.remaining(), MAX_BYTES - unsentBytes.get());
        if (count <= 0) {
            return 0;
        }
        ByteBuf bytes = channel.alloc().directBuffer(count);
        int limit = source.limit();
        bytes.writeBytes(source.limit(source.position() + count));
        source.limit(limit);
        unsentBytes.addAndGet(count); // before the bytes can be sent
        try {
            toSend.add(bytes);
        } catch (OutOfMemoryError e) {
            unsentBytes.addAndGet(-count);
            bytes.release();
            throw e;
        }
        requestSend();
        return count;
    }

    /** Asks the ring's thread to send the queued bytes. If memory is too short for that, {@link #flush} asks again. */
    private void requestSend() {
        unrequested = false;
        if (sendRequested.compareAndSet(false, true)) {
            try {
                inLoop(this::sendAll);
            } catch (OutOfMemoryError _) {
                sendRequested.set(false);
                unrequested = true;
            }
        }
    }

    @Override
    public boolean flush() {
        if (unrequested) {
            requestSend();
        }
        return !unrequested;
    }

    private void inLoop(Runnable task) {
        try {
            channel.eventLoop().execute(task);
        } catch (RejectedExecutionException _) {
            fault = new ClosedChannelException(); // the thread has ended and has closed the channel
        }
    }

    /** Writes the bytes of several calls in one operation. In the thread of the ring. */
    private void sendAll() {
        sendRequested.set(false);
        for (ByteBuf bytes; (bytes = toSend.poll()) != null; ) {
            int count = bytes.readableBytes();
            channel.write(bytes).addListener(sent -> sent(count, sent.cause()));
        }
        channel.flush();
    }

    private void sent(int count, @Nullable Throwable cause) {
        int left = unsentBytes.addAndGet(-count);
        if (cause != null) {
            fail(cause);
        } else if (left == 0 && shutdownWanted) {
            channel.shutdownOutput();
        }
        ready(OP_WRITE);
    }

    @Override
    public boolean hasArrived() {
        return arrivedBytes.get() > 0 || ended || fault != null;
    }

    @Override
    public boolean hasRoom() {
        return unsentBytes.get() < MAX_BYTES;
    }

    @Override
    public boolean hasUnsent() {
        return unsentBytes.get() > 0 && fault == null;
    }

    @Override
    public void shutdownOutput() {
        if (!shutdownWanted) {
            shutdownWanted = true;
            inLoop(() -> {
                if (unsentBytes.get() == 0) {
                    channel.shutdownOutput();
                }
            });
        }
    }

    @Override
    public void close() {
        inLoop(this::closeAndDrop);
    }

    private void closeAndDrop() {
        channel.close();
        taking.lock();
        try {
            drop(arrived);
        } finally {
            taking.unlock();
        }
        drop(toSend);
    }

    private static void drop(Queue<ByteBuf> queue) {
        for (ByteBuf bytes; (bytes = queue.poll()) != null; ) {
            bytes.release();
        }
    }
}
