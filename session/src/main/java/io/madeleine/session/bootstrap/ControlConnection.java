package io.madeleine.session.bootstrap;

import io.madeleine.admission.Proofs;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A control connection after its {@linkplain ControlHandshake handshake}. It carries frames; each ends with a proof
 * that the other end sent it, at this position in the stream:
 *
 * <pre>
 * length(4) content(length) proof(32)
 * </pre>
 *
 * <p>Threading: any thread may call {@link #send}, one thread may call {@link #receive}.
 */
final class ControlConnection implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final byte[] sendKey;
    private final byte[] receiveKey;
    private final ReentrantLock sendLock = new ReentrantLock();
    private byte[] buffer = new byte[512];
    private int filled;
    private long sentFrames;
    private volatile long sentNs = System.nanoTime();
    private long receivedFrames;

    /**
     * A connection with the keys that a {@link ControlHandshake} has agreed on. Ownership: the socket is the
     * connection's.
     */
    ControlConnection(Socket socket, byte[] sendKey, byte[] receiveKey) throws IOException {
        this.socket = socket;
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
        this.sendKey = sendKey;
        this.receiveKey = receiveKey;
    }

    String peerHost() {
        return socket.getInetAddress().getHostAddress();
    }

    /** Sets the timeout of each later {@link #receive}. */
    void receiveTimeoutMs(int timeoutMs) throws IOException {
        socket.setSoTimeout(timeoutMs);
    }

    /** Sends a message. Blocks while the socket's send buffer is full. */
    void send(ControlMessage message) throws IOException {
        byte[] content = message.encode();
        ByteBuffer frame = ByteBuffer.allocate(4 + content.length + Proofs.BYTES)
                .putInt(content.length)
                .put(content);
        sendLock.lock();
        try {
            frame.put(frameProof(sendKey, sentFrames, content));
            out.write(frame.array());
            sentFrames++;
            sentNs = System.nanoTime();
        } finally {
            sendLock.unlock();
        }
    }

    /** Sends a sign of life if nothing has been sent for {@code idleNs}. */
    void beatIfIdle(long nowNs, long idleNs) {
        if (isIdle(nowNs, idleNs)) {
            trySend(new ControlMessage.Heartbeat());
        }
    }

    /** Whether nothing has been sent for {@code idleNs}. */
    boolean isIdle(long nowNs, long idleNs) {
        return nowNs - sentNs >= idleNs;
    }

    /** Sends a message to a process that may be gone. On failure closes the connection, which its reader notices. */
    void trySend(ControlMessage message) {
        try {
            send(message);
        } catch (IOException _) {
            close();
        }
    }

    /**
     * Waits for the next message, at most for the timeout; empty if it has expired. Keeps the part of a message that
     * has arrived by then, also if it throws an OutOfMemoryError: the next call continues there.
     *
     * @throws EOFException if the other end closed the connection
     * @throws IOException if the frame is malformed or its proof is wrong
     */
    Optional<ControlMessage> receive() throws IOException {
        try {
            fill(4);
            int length = ByteBuffer.wrap(buffer).getInt();
            if (length < 1 || length > ControlMessage.MAX_FRAME_BYTES) {
                throw new IOException(
                        "a control message of " + length + " bytes, expected 1 to " + ControlMessage.MAX_FRAME_BYTES);
            }
            fill(4 + length + Proofs.BYTES);
            byte[] content = Arrays.copyOfRange(buffer, 4, 4 + length);
            byte[] proof = Arrays.copyOfRange(buffer, 4 + length, 4 + length + Proofs.BYTES);
            if (!MessageDigest.isEqual(proof, frameProof(receiveKey, receivedFrames, content))) {
                throw new IOException("a control message is not as the other end sent it: its proof is wrong");
            }
            Optional<ControlMessage> message = Optional.of(ControlMessage.decode(content));
            filled = 0;
            receivedFrames++;
            return message;
        } catch (SocketTimeoutException _) {
            return Optional.empty();
        }
    }

    private static byte[] frameProof(byte[] key, long number, byte[] content) {
        byte[] counter = ByteBuffer.allocate(Long.BYTES).putLong(number).array();
        return Proofs.proof(key, "frame", counter, content);
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
            // the socket counts as closed even if this fails
        }
    }

    @Override
    public String toString() {
        return "control connection with " + socket.getRemoteSocketAddress();
    }
}
