package io.madeleine.tm.tcp.tls;

import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.io.Wire;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;

/**
 * A socket whose bytes are TLS records. The engine leaves Netty's pipeline after the handshake. From then on the
 * thread that sends encrypts and writes, and the thread that waits reads and decrypts.
 *
 * <p>The JDK encrypts between arrays three times as fast as between direct buffers, so each record passes through a
 * pair of arrays ({@link TlsBuffers.Scratch}) that stay in the processor's cache. Other implementations work on the
 * records in place; only plaintext is copied, because they do not keep memory segments alive.
 *
 * <p>Threading: one thread writes, one reads, as {@link Wire} says. A key update that the peer requests is sent with
 * the next bytes that are written (RFC 8446, section 4.6.3, requires no more).
 */
public final class TlsWire implements Wire {
    private final Wire socket;
    private final SSLEngine engine;
    private final TlsOutput output;
    private final TlsInput input;
    private boolean released;

    /**
     * Takes over after the handshake.
     *
     * @param leftover the bytes that were read from the socket and not decrypted
     */
    public TlsWire(Wire socket, SSLEngine engine, TlsBuffers buffers, byte[] leftover) {
        this.socket = socket;
        this.engine = engine;
        this.output = new TlsOutput(socket, engine, buffers);
        this.input = new TlsInput(socket, engine, buffers, leftover);
    }

    /** Runs the tasks that the engine asks for, such as a key update. */
    static void runTasks(SSLEngine engine, SSLEngineResult result) {
        if (result.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_TASK) {
            for (Runnable task; (task = engine.getDelegatedTask()) != null; ) {
                task.run();
            }
        }
    }

    /**
     * True: plaintext is copied one record at a time, and the copy fails if the memory has been freed, before the
     * engine sees it.
     */
    @Override
    public boolean reachesUserMemory() {
        return true;
    }

    @Override
    public boolean isCopiedByKernel() {
        return false;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        return input.read(target);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        return output.write(source);
    }

    @Override
    public boolean flush() throws IOException {
        return output.flush();
    }

    @Override
    public void register(Reactor.ReadyHandler handler) throws IOException {
        socket.register(handler);
    }

    @Override
    public void interest(int operations) {
        socket.interest(operations);
    }

    @Override
    public boolean hasArrived() {
        return input.hasArrived() || socket.hasArrived();
    }

    @Override
    public boolean hasRoom() {
        return socket.hasRoom();
    }

    @Override
    public boolean hasUnsent() {
        return output.hasUnsent() || socket.hasUnsent();
    }

    @Override
    public void shutdownOutput() throws IOException {
        if (output.end()) {
            socket.shutdownOutput();
        }
    }

    @Override
    public void close() {
        socket.close();
        synchronized (this) {
            if (released) {
                return;
            }
            released = true;
        }
        ReferenceCountUtil.release(engine); // frees its native memory; a concurrent call fails
    }
}
