package io.madeleine.tm.tcp.reactor;

import io.madeleine.pmm.WatchedDescriptors;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.config.TcpConfig;
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
 * The reactor of a session that uses TCP. It sleeps in Netty's I/O handler, where the sockets of the connections are
 * registered, and also watches channels and file descriptors of other modules.
 *
 * <p>Threading: as {@link Reactor} says. Threads other than the leader may poll, too; one at a time does.
 */
public final class NettyReactor implements Reactor {
    /** The longest single wait of {@link #await}: an event in another thread does not end it. */
    private static final long AWAIT_NS = 2_000_000;

    /** The longest time that channels may take to close. */
    private static final long CLOSING_NS = 200_000_000;

    private final LeaderEventLoop loop;
    private final IoTransport io;
    private final ForwardingSelector forwarding;
    private final WatchedDescriptors descriptors = new WatchedDescriptors(this::wakeUp);
    private final AtomicBoolean lookingAtDescriptors = new AtomicBoolean();
    private final Optional<EventLoopGroup> ownThread;
    private final EventLoop channels;

    public NettyReactor(IoTransport io) {
        this.io = io;
        this.loop = new LeaderEventLoop(io.handlerFactory(), io != IoTransport.EPOLL);
        this.ownThread = io.ownThread();
        this.channels = ownThread.map(EventLoopGroup::next).orElse(loop);
        this.forwarding = new ForwardingSelector(loop, loop::failed);
    }

    public LeaderEventLoop loop() {
        return loop;
    }

    /** The event loop of Netty's channels: the leader's loop, or one with a thread of its own. */
    public EventLoop channels() {
        return channels;
    }

    /** Whether the calling thread runs the loop as leader, so that it may make upcalls. */
    public boolean isLedHere() {
        return loop.inEventLoop();
    }

    /**
     * Runs the leader's loop until {@code done}, which an event in {@link #channels()} makes true. An interrupt does
     * not end this, because last messages could be lost, but the thread keeps it.
     *
     * @return whether it is done; false after the timeout
     */
    public boolean await(BooleanSupplier done, long timeoutNs) {
        long startNs = System.nanoTime();
        boolean interrupted = false;
        try {
            while (!done.getAsBoolean()) {
                long leftNs = timeoutNs - (System.nanoTime() - startNs);
                if (leftNs <= 0) {
                    return false;
                }
                interrupted |= Thread.interrupted(); // otherwise the loop would not wait
                loop.runBlocking(Math.min(leftNs, AWAIT_NS));
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public IoTransport io() {
        return io;
    }

    @Override
    public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
        if (io == IoTransport.EPOLL) {
            return forwarding.register(channel, operations, handler);
        }
        WatchedChannel watched = new WatchedChannel(loop, channel, operations, handler);
        watched.register();
        return watched;
    }

    @Override
    public Availability descriptors() {
        return io == IoTransport.EPOLL
                ? Availability.on("raw file descriptors by " + io.title())
                : WatchedDescriptors.availability();
    }

    @Override
    public Registration registerDescriptor(int descriptor, int operations, ReadyHandler handler) {
        if (io != IoTransport.EPOLL) {
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
            throw new UnsupportedOperationException(TcpConfig.PATH + ".io = epoll cannot ask before it"
                    + " handles events; call sleep(timeoutNs) instead");
        }
        descriptors.arm();
        int handled = loop.runBlocking(timeoutNs, mayHandle);
        return descriptors.disarm() && mayHandle.getAsBoolean() ? handled + pollDescriptors() : handled;
    }

    /** Netty's epoll handler handles what it waited for in the same call. */
    @Override
    public boolean asksBeforeHandling() {
        return io != IoTransport.EPOLL;
    }

    @Override
    public void wakeUp() {
        loop.wakeUp();
    }

    /**
     * Shuts down the thread of the ring. Its channels are closed or about to be. io_uring closes a channel when the
     * kernel has answered, and Netty logs an error for a channel that outlives its loop; so wait for them first. A
     * quiet period is not needed: Netty would sleep 100 ms at a time for it.
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
