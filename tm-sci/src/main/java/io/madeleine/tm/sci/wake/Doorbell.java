package io.madeleine.tm.sci.wake;

import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.sci.files.FileStem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A doorbell: the line between two processes, on which either wakes the other from its sleep in the reactor. Each ring
 * is one byte without meaning. The system closes the line whenever a process ends, so its end tells that the peer has
 * died.
 *
 * <p>The process that dials introduces itself first:
 *
 * <pre>
 *   | magic (8) | proof of membership (8) | id (8) | incarnation (4) | nonce (4) |      little-endian
 * </pre>
 *
 * <p>Threading: {@link #ring} thread-safe; {@link #onReady} by the reactor's thread.
 */
public final class Doorbell implements Reactor.ReadyHandler {
    /** The owner of bells, which they notify. */
    public interface Keeper {
        /** A process has dialled and proved that it belongs to the session. */
        void onHello(Doorbell bell, FileStem caller);

        /** The line has ended. The other process is dead, too, unless it has said goodbye. */
        void onSilence(Doorbell bell);
    }

    private static final long MAGIC = 0x4d61_6449_6265_6c01L;
    private static final int HELLO_BYTES = 32;
    private static final int SCRATCH_BYTES = 256;
    private static final byte ANY_BYTE = 1;

    private final SocketChannel channel;
    private final Keeper keeper;
    private final long proof;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer ringByte = ByteBuffer.allocateDirect(1).put(ANY_BYTE);
    private volatile Reactor.@Nullable Registration registration;
    private boolean awaitsHello;
    private long rungSleep;

    private Doorbell(SocketChannel channel, Keeper keeper, long proof, boolean awaitsHello) {
        this.channel = channel;
        this.keeper = keeper;
        this.proof = proof;
        this.awaitsHello = awaitsHello;
    }

    /**
     * Wraps a line that a peer has dialled; {@link Keeper#onHello} tells which peer.
     *
     * <p>Ownership: the bell closes the channel, also if this method fails.
     */
    static Doorbell accepted(SocketChannel channel, Reactor reactor, Keeper keeper, long proof) throws IOException {
        Doorbell bell = new Doorbell(channel, keeper, proof, true);
        bell.listen(reactor);
        return bell;
    }

    /** Has the reactor watch the line from now on; closes the line if that fails. */
    private void listen(Reactor reactor) throws IOException {
        try {
            channel.configureBlocking(false);
            registration = reactor.register(channel, SelectionKey.OP_READ, this);
        } catch (UncheckedIOException e) {
            close();
            throw new IOException(e.getMessage(), e);
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
        if (isClosed()) {
            close(); // The reactor's thread found the end of the line before the registration was known.
        }
    }

    /**
     * Dials a peer.
     *
     * @param listener the peer's socket
     * @param self the name prefix by which this process introduces itself
     * @throws IOException if nobody listens there, or the socket's queue of callers is full
     */
    public static Doorbell dial(Path listener, FileStem self, Reactor reactor, Keeper keeper, long proof)
            throws IOException {
        SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(listener));
        try {
            ByteBuffer hello = ByteBuffer.allocate(HELLO_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            hello.putLong(MAGIC).putLong(proof).putLong(self.identity().id());
            hello.putInt(self.identity().incarnation()).putInt(self.nonce()).flip();
            channel.write(hello);
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        }
        Doorbell bell = new Doorbell(channel, keeper, proof, false);
        bell.listen(reactor);
        return bell;
    }

    /** Wakes the peer from the sleep with the given number, at most once. */
    public synchronized void ring(long sleep) {
        if (sleep == rungSleep) {
            return;
        }
        rungSleep = sleep;
        try {
            ringByte.clear();
            channel.write(ringByte); // If the line is full, the bytes in it will wake the peer.
        } catch (IOException _) {
            // The peer is gone; onReady notices.
        }
    }

    @Override
    public void onReady(int readyOperations) {
        try {
            int read = channel.read(scratch);
            if (awaitsHello && scratch.position() >= HELLO_BYTES) {
                awaitsHello = false;
                keeper.onHello(this, hello());
            }
            if (!awaitsHello) {
                scratch.clear();
            }
            if (read < 0) {
                end();
            }
        } catch (IOException _) {
            end();
        }
    }

    private FileStem hello() throws IOException {
        scratch.flip();
        boolean speaksOurs = scratch.getLong() == MAGIC;
        boolean genuine = scratch.getLong() == proof && speaksOurs;
        ProcessIdentity caller = new ProcessIdentity(scratch.getLong(), scratch.getInt());
        if (!genuine) {
            throw new IOException("the caller is not a process of this session");
        }
        return new FileStem(caller, scratch.getInt());
    }

    private void end() {
        close();
        keeper.onSilence(this);
    }

    boolean isClosed() {
        return !channel.isOpen();
    }

    public void close() {
        try {
            channel.close();
        } catch (IOException _) {
            // No data on this line can be lost.
        }
        Reactor.Registration watched = registration;
        if (watched != null) {
            watched.cancel();
        }
    }
}
