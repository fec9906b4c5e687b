package io.madeleine.tm.tcp.io;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.reactor.LeaderEventLoop;
import io.madeleine.tm.tcp.reactor.WatchedDescriptor;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the socket's descriptor directly through Netty's native library; Netty's epoll handler watches it.
 *
 * <p>The native library does not keep memory segments alive, so user memory is copied.
 *
 * <p>Threading: as {@link Wire} says.
 */
public final class EpollWire implements Wire, EpollIoHandle {
    private final Socket socket;
    private final LeaderEventLoop loop;

    /** Held while the descriptor is read and written: Netty's calls do not check whether it is closed meanwhile. */
    private final SpinLock reading = new SpinLock();

    private final SpinLock writing = new SpinLock();

    /** Whether the number may belong to another socket; written under both locks. */
    private boolean numberFreed;

    private Reactor.@Nullable ReadyHandler handler;
    private @Nullable IoRegistration registration;
    private boolean closed;

    public EpollWire(FileDescriptor socket, LeaderEventLoop loop) {
        this.socket = (Socket) socket;
        this.loop = loop;
    }

    @Override
    public boolean reachesUserMemory() {
        return false;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        reading.lock();
        try {
            checkNumber();
            int read = socket.recv(target, target.position(), target.limit());
            if (read > 0) {
                target.position(target.position() + read);
            }
            return read;
        } finally {
            reading.unlock();
        }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        writing.lock();
        try {
            checkNumber();
            int written = socket.send(source, source.position(), source.limit());
            source.position(source.position() + written);
            return written;
        } finally {
            writing.unlock();
        }
    }

    private void checkNumber() throws ClosedChannelException {
        if (numberFreed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public void register(Reactor.ReadyHandler receiverOfEvents) throws IOException {
        handler = receiverOfEvents;
        try {
            registration = loop.registerNow(this);
        } catch (Exception e) {
            throw new IOException("cannot register the socket with epoll: " + e.getMessage(), e);
        }
    }

    @Override
    public synchronized void interest(int operations) {
        IoRegistration made = registration;
        if (made != null && !closed) {
            made.submit(
                    switch (operations) {
                        case 0 -> WatchedDescriptor.NOTHING;
                        case OP_READ -> EpollIoOps.EPOLLIN;
                        case OP_WRITE -> EpollIoOps.EPOLLOUT;
                        default -> EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLOUT);
                    });
        }
    }

    @Override
    public void handle(IoRegistration made, IoEvent event) {
        Reactor.ReadyHandler receiver = handler;
        if (receiver == null) {
            return;
        }
        EpollIoOps ops = ((EpollIoEvent) event).ops();
        // errors and hang-ups are reported by the next read
        int ready = ops.equals(EpollIoOps.EPOLLOUT)
                ? OP_WRITE
                : ops.contains(EpollIoOps.EPOLLOUT) ? OP_READ | OP_WRITE : OP_READ;
        try {
            receiver.onReady(ready);
        } catch (RuntimeException | Error e) {
            loop.failed(e);
        }
    }

    @Override
    public FileDescriptor fd() {
        return socket;
    }

    @Override
    public void shutdownOutput() throws IOException {
        writing.lock();
        try {
            checkNumber();
            socket.shutdown(false, true);
        } catch (NotYetConnectedException e) {
            throw new IOException("the connection was reset", e);
        } finally {
            writing.unlock();
        }
    }

    /** Removes the descriptor from the loop before it closes it, because the kernel may reuse the number at once. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (loop.inEventLoop() || loop.isShutdown()) {
            forgetAndClose();
            return;
        }
        try {
            loop.execute(this::forgetAndClose);
        } catch (RejectedExecutionException _) {
            forgetAndClose(); // the loop has closed since the check
        }
    }

    private void forgetAndClose() {
        IoRegistration made = registration;
        if (made != null && !loop.isShutdown()) {
            made.cancel();
        }
        reading.lock();
        writing.lock();
        try {
            numberFreed = true;
            socket.close();
        } catch (IOException _) {
            // nothing is left that could be lost
        } finally {
            writing.unlock();
            reading.unlock();
        }
    }
}
