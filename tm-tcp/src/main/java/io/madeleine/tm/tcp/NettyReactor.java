package io.madeleine.tm.tcp;

import io.madeleine.pmm.WatchedDescriptors;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.Reactor;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.EventExecutor;
import java.nio.channels.SelectableChannel;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The reactor of a session that uses TCP: it sleeps in Netty's I/O handler, where the connections' sockets are
 * registered, and takes other modules' channels in as well.
 *
 * <p>Threading: as {@link Reactor} says. A thread that is not the leader may poll, too; one at a time does.
 */
final class NettyReactor implements Reactor {
    /** Something in another thread does not end a wait here. */
    private static final long AWAIT_NS = 2_000_000;

    /** How long channels that are being closed may take for it. */
    private static final long CLOSING_NS = 200_000_000;

    private final LeaderEventLoop loop;
    private final TcpIo io;
    private final ForwardingSelector forwarding;
    private final WatchedDescriptors descriptors = new WatchedDescriptors(this::wakeUp);
    private final AtomicBoolean lookingAtDescriptors = new AtomicBoolean();
    private final Optional<EventLoopGroup> ownThread;
    private final EventLoop channels;

    NettyReactor(TcpIo io) {
        this.io = io;
        this.loop = new LeaderEventLoop(io.handlerFactory(), io != TcpIo.EPOLL);
        this.ownThread = io.ownThread();
        this.channels = ownThread.map(EventLoopGroup::next).orElse(loop);
        this.forwarding = new ForwardingSelector(loop);
    }

    LeaderEventLoop loop() {
        return loop;
    }

    /** Where Netty's channels are registered: the leader's loop, or one with a thread of its own. */
    EventLoop channels() {
        return channels;
    }

    /** Whether this thread runs the loop as leader, so that upcalls may be made. */
    boolean isLedHere() {
        return loop.inEventLoop();
    }

    /** Waits for something in {@link #channels()}; runs the leader's loop meanwhile. Returns whether it has come. */
    boolean await(BooleanSupplier done, long timeoutNs) {
        long startNs = System.nanoTime();
        while (!done.getAsBoolean()) {
            long leftNs = timeoutNs - (System.nanoTime() - startNs);
            if (leftNs <= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            loop.runBlocking(Math.min(leftNs, AWAIT_NS));
        }
        return true;
    }

    TcpIo io() {
        return io;
    }

    @Override
    public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
        if (io == TcpIo.EPOLL) {
            return forwarding.register(channel, operations, handler);
        }
        WatchedChannel watched = new WatchedChannel(loop, channel, operations, handler);
        watched.register();
        return watched;
    }

    @Override
    public Availability descriptors() {
        return io == TcpIo.EPOLL
                ? Availability.on("raw file descriptors by " + io.title())
                : WatchedDescriptors.availability();
    }

    @Override
    public Registration registerDescriptor(int descriptor, int operations, ReadyHandler handler) {
        if (io != TcpIo.EPOLL) {
            return descriptors.register(descriptor, operations, handler);
        }
        WatchedDescriptor watched = new WatchedDescriptor(loop, descriptor, operations, handler);
        watched.register();
        return watched;
    }

    @Override
    public int poll() {
        return loop.runNow() + pollDescriptors();
    }

    private int pollDescriptors() {
        if (!lookingAtDescriptors.compareAndSet(false, true)) {
            return 0;
        }
        try {
            return descriptors.poll();
        } finally {
            lookingAtDescriptors.set(false);
        }
    }

    @Override
    public int sleep(long timeoutNs) {
        descriptors.arm();
        int handled = loop.runBlocking(timeoutNs);
        return descriptors.disarm() ? handled + pollDescriptors() : handled;
    }

    @Override
    public int sleep(long timeoutNs, BooleanSupplier mayHandle) {
        if (!asksBeforeHandling()) {
            throw new UnsupportedOperationException("what Netty's epoll waits for it handles");
        }
        descriptors.arm();
        int handled = loop.runBlocking(timeoutNs, mayHandle);
        return descriptors.disarm() && mayHandle.getAsBoolean() ? handled + pollDescriptors() : handled;
    }

    /** Netty's epoll handles in one go what it waits for. */
    @Override
    public boolean asksBeforeHandling() {
        return io != TcpIo.EPOLL;
    }

    @Override
    public void wakeUp() {
        loop.wakeUp();
    }

    /**
     * Its channels are closed, or about to be: io_uring closes one when the kernel has answered, and Netty complains of a channel that
     * outlives its loop. Otherwise Netty need not be quiet first, for which it would sleep 100 ms at a time.
     */
    private static void shutDown(EventLoopGroup thread) {
        long startNs = System.nanoTime();
        while (hasChannels(thread) && System.nanoTime() - startNs < CLOSING_NS) {
            LockSupport.parkNanos(thread, CLOSING_NS / 1_000);
        }
        thread.shutdownGracefully(0, 1000, TimeUnit.MILLISECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }

    private static boolean hasChannels(EventLoopGroup thread) {
        for (EventExecutor each : thread) {
            if (each instanceof SingleThreadEventLoop loop && loop.registeredChannels() > 0) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        descriptors.close();
        forwarding.close();
        ownThread.ifPresent(NettyReactor::shutDown);
        loop.close();
    }
}
