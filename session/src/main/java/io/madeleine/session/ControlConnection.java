package io.madeleine.session;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A control connection after its handshake, in which both ends have proved that they know the secret before anything
 * else is read:
 *
 * <pre>
 * server -> client   magic(4) version(4) nonce(32)
 * client -> server   magic(4) version(4) nonce(32) proof(32)
 * server -> client   verdict(1) proof(32)
 * then frames        length(4) content(length) proof(32)
 * </pre>
 *
 * The proof is an HMAC-SHA256 over the role and both nonces, so that neither a repeated nor a reflected one counts. The
 * client proves first: who connects without the secret learns nothing.
 *
 * <p>Threading: {@link #send} may be called by any thread, {@link #receive} by one.
 */
final class ControlConnection implements AutoCloseable {
    private static final int MAGIC = 0x4D414443;
    private static final int VERSION = 2;
    private static final byte ACCEPTED = 1;
    private static final byte WRONG_SECRET = 2;
    private static final byte WRONG_VERSION = 3;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final ReentrantLock sendLock = new ReentrantLock();
    private byte[] buffer = new byte[512];
    private int filled;
    private byte[] sendKey = {};
    private byte[] receiveKey = {};
    private long sentFrames;
    private volatile long sentNs = System.nanoTime();
    private long receivedFrames;

    private ControlConnection(Socket socket) throws IOException {
        this.socket = socket;
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
    }

    /** The client's half of the handshake; {@code timeoutMs} bounds each of its reads. */
    static ControlConnection connect(Socket socket, byte[] key, int timeoutMs) throws IOException {
        ControlConnection connection = open(socket, timeoutMs);
        DataInputStream in = new DataInputStream(connection.in);
        Greeting server = Greeting.read(in);
        byte[] nonce = Secrets.nonce();
        connection.out.write(greeting(nonce, Secrets.proof(key, "client", server.nonce, nonce)));
        byte verdict = in.readByte();
        if (verdict == WRONG_VERSION || server.version != VERSION) {
            throw new HandshakeException(
                    "it speaks version " + server.version + " of the control protocol, this process " + VERSION
                            + ": the same release of Madeleine is needed everywhere");
        }
        byte[] proof = in.readNBytes(Secrets.BYTES);
        if (verdict != ACCEPTED || !MessageDigest.isEqual(proof, Secrets.proof(key, "server", server.nonce, nonce))) {
            throw new HandshakeException(
                    "its secret is another one: expected the same madeleine.session.secret at both ends");
        }
        connection.sendKey = Secrets.proof(key, "frames of the client", server.nonce, nonce);
        connection.receiveKey = Secrets.proof(key, "frames of the server", server.nonce, nonce);
        return connection;
    }

    /** The server's half of the handshake. */
    static ControlConnection accept(Socket socket, byte[] key, int timeoutMs) throws IOException {
        ControlConnection connection = open(socket, timeoutMs);
        byte[] nonce = Secrets.nonce();
        connection.out.write(greeting(nonce, new byte[0]));
        DataInputStream in = new DataInputStream(new DeadlineInput(socket, connection.in, timeoutMs));
        Greeting client = Greeting.read(in);
        if (client.version != VERSION) {
            connection.out.write(verdict(WRONG_VERSION, new byte[Secrets.BYTES]));
            throw new HandshakeException(
                    "a process speaks version " + client.version + " of the control protocol, expected " + VERSION);
        }
        byte[] proof = in.readNBytes(Secrets.BYTES);
        if (!MessageDigest.isEqual(proof, Secrets.proof(key, "client", nonce, client.nonce))) {
            connection.out.write(verdict(WRONG_SECRET, new byte[Secrets.BYTES]));
            throw new HandshakeException("a process does not know the session's secret");
        }
        socket.setSoTimeout(timeoutMs);
        connection.sendKey = Secrets.proof(key, "frames of the server", nonce, client.nonce);
        connection.receiveKey = Secrets.proof(key, "frames of the client", nonce, client.nonce);
        connection.out.write(verdict(ACCEPTED, Secrets.proof(key, "server", nonce, client.nonce)));
        return connection;
    }

    private static ControlConnection open(Socket socket, int timeoutMs) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(timeoutMs);
        return new ControlConnection(socket);
    }

    private static byte[] greeting(byte[] nonce, byte[] proof) {
        return ByteBuffer.allocate(8 + nonce.length + proof.length)
                .putInt(MAGIC)
                .putInt(VERSION)
                .put(nonce)
                .put(proof)
                .array();
    }

    private static byte[] verdict(byte verdict, byte[] proof) {
        return ByteBuffer.allocate(1 + proof.length).put(verdict).put(proof).array();
    }

    /** A stranger that sends a byte now and then would never run into a limit for each read. */
    private static final class DeadlineInput extends FilterInputStream {
        private final Socket socket;
        private final long deadlineNs;

        DeadlineInput(Socket socket, InputStream in, int timeoutMs) {
            super(in);
            this.socket = socket;
            this.deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        }

        @Override
        public int read() throws IOException {
            limit();
            return super.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            limit();
            return super.read(target, offset, length);
        }

        private void limit() throws IOException {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
            if (leftMs <= 0) {
                throw new SocketTimeoutException("the handshake takes too long");
            }
            socket.setSoTimeout((int) leftMs);
        }
    }

    /** What each side says first. */
    private static final class Greeting {
        final int version;
        final byte[] nonce;

        private Greeting(int version, byte[] nonce) {
            this.version = version;
            this.nonce = nonce;
        }

        static Greeting read(DataInputStream in) throws IOException {
            int magic = in.readInt();
            if (magic != MAGIC) {
                throw new HandshakeException("what is there is not a Madeleine control connection: it begins with 0x"
                        + Integer.toHexString(magic));
            }
            int version = in.readInt();
            byte[] nonce = in.readNBytes(Secrets.BYTES);
            if (nonce.length != Secrets.BYTES) {
                throw new EOFException("the connection ended in the handshake");
            }
            return new Greeting(version, nonce);
        }
    }

    /** The other end is not what was expected; trying again will not help. */
    static final class HandshakeException extends IOException {
        private static final long serialVersionUID = 1L;

        HandshakeException(String message) {
            super(message);
        }
    }

    /** Bounds each later {@link #receive}. */
    void receiveTimeoutMs(int timeoutMs) throws IOException {
        socket.setSoTimeout(timeoutMs);
    }

    /** Sends a message. */
    void send(ControlMessage message) throws IOException {
        byte[] content = message.encode();
        ByteBuffer frame = ByteBuffer.allocate(4 + content.length + Secrets.BYTES)
                .putInt(content.length)
                .put(content);
        sendLock.lock();
        try {
            frame.put(frameProof(sendKey, sentFrames++, content));
            out.write(frame.array());
            sentNs = System.nanoTime();
        } finally {
            sendLock.unlock();
        }
    }

    /** Gives a sign of life if nothing has been sent for so long. */
    void beatIfIdle(long nowNs, long idleNs) {
        if (nowNs - sentNs >= idleNs) {
            trySend(new ControlMessage.Beat());
        }
    }

    /** Sends a message to somebody who may be gone; if so, the reader of this connection will know. */
    void trySend(ControlMessage message) {
        try {
            send(message);
        } catch (IOException _) {
            close();
        }
    }

    /**
     * Waits for the next message, no longer than the timeout; what has arrived of a message by then is kept.
     *
     * @throws EOFException if the other end closed
     */
    Optional<ControlMessage> receive() throws IOException {
        try {
            fill(4);
            int length = ByteBuffer.wrap(buffer).getInt();
            if (length < 1 || length > ControlMessage.MAX_FRAME_BYTES) {
                throw new IOException(
                        "a control message of " + length + " bytes, expected 1 to " + ControlMessage.MAX_FRAME_BYTES);
            }
            fill(4 + length + Secrets.BYTES);
            filled = 0;
            byte[] content = Arrays.copyOfRange(buffer, 4, 4 + length);
            byte[] proof = Arrays.copyOfRange(buffer, 4 + length, 4 + length + Secrets.BYTES);
            if (!MessageDigest.isEqual(proof, frameProof(receiveKey, receivedFrames++, content))) {
                throw new IOException("a control message is not as the other end sent it: somebody stands between");
            }
            return Optional.of(ControlMessage.decode(content));
        } catch (SocketTimeoutException _) {
            return Optional.empty();
        }
    }

    private static byte[] frameProof(byte[] key, long number, byte[] content) {
        byte[] counter = ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        return Secrets.proof(key, "frame", counter, content);
    }

    private void fill(int wanted) throws IOException {
        if (buffer.length < wanted) {
            buffer = Arrays.copyOf(buffer, wanted);
        }
        while (filled < wanted) {
            int count = in.read(buffer, filled, wanted - filled);
            if (count < 0) {
                throw new EOFException("the control connection was closed");
            }
            filled += count;
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    @Override
    public String toString() {
        return "control connection with " + socket.getRemoteSocketAddress();
    }
}
