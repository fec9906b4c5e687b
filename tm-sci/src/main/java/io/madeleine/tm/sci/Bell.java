package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * The line between two processes on which either wakes the other from its sleep in the reactor, with a byte that says
 * nothing. Its end, which the system brings about whatever happens to a process, is how the other's death is noticed.
 *
 * <p>Whoever dials says who he is first:
 *
 * <pre>
 *   | magic (8) | proof of membership (8) | id (8) | incarnation (4) | nonce (4) |      little-endian
 * </pre>
 *
 * <p>Threading: {@link #ring} thread-safe; {@link #onReady} by the reactor's thread.
 */
final class Bell implements Reactor.ReadyHandler {
    /** What bells tell their owner. */
    interface Keeper {
        /** A process has dialled and proved that it belongs to the session. */
        void onHello(Bell bell, FileStem caller);

        /** The line is dead, and so is the other process unless it has said goodbye. */
        void onSilence(Bell bell);
    }

    private static final long MAGIC = 0x4d61_6449_6265_6c01L;
    private static final int HELLO_BYTES = 32;
    private static final int SCRATCH_BYTES = 256;
    private static final byte ANY_BYTE = 1;

    private final SocketChannel channel;
    private final Keeper keeper;
    private final long proof;
    private final Reactor.Registration registration;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer ringByte = ByteBuffer.allocateDirect(1).put(ANY_BYTE);
    private boolean awaitsHello;
    private long rungSleep;

    private Bell(SocketChannel channel, Reactor reactor, Keeper keeper, long proof, boolean awaitsHello)
            throws IOException {
        this.channel = channel;
        this.keeper = keeper;
        this.proof = proof;
        this.awaitsHello = awaitsHello;
        channel.configureBlocking(false);
        registration = reactor.register(channel, SelectionKey.OP_READ, this);
    }

    /** The line that somebody has dialled: who, is to be heard. */
    static Bell accepted(SocketChannel channel, Reactor reactor, Keeper keeper, long proof) throws IOException {
        return new Bell(channel, reactor, keeper, proof, true);
    }

    /**
     * Dials a peer.
     *
     * @throws IOException if nobody listens there, or too many wait to be heard just now
     */
    static Bell dial(Path listener, FileStem self, Reactor reactor, Keeper keeper, long proof) throws IOException {
        SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(listener));
        try {
            ByteBuffer hello = ByteBuffer.allocate(HELLO_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            hello.putLong(MAGIC).putLong(proof).putLong(self.identity().id());
            hello.putInt(self.identity().incarnation()).putInt(self.nonce()).flip();
            channel.write(hello);
            return new Bell(channel, reactor, keeper, proof, false);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** Wakes the peer from the sleep of the given number, once. */
    synchronized void ring(long sleep) {
        if (sleep == rungSleep) {
            return;
        }
        rungSleep = sleep;
        try {
            ringByte.clear();
            channel.write(ringByte); // nothing written: the line is full of bytes that will wake it
        } catch (IOException _) {
            // the peer is gone: onReady hears of it
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
            throw new IOException("this caller is not of the session");
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

    void close() {
        registration.cancel();
        try {
            channel.close();
        } catch (IOException _) {
            // there is nothing to lose on this line
        }
    }
}
