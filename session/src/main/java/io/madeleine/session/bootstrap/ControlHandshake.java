package io.madeleine.session.bootstrap;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import io.madeleine.admission.ServerHandshake;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The handshake of a control connection. Both ends prove that they know the secret before anything else is read:
 *
 * <pre>
 * server -> client   magic(4) version(4) nonce(32)
 * client -> server   magic(4) version(4) nonce(32) proof(32)
 * server -> client   verdict(1) proof(32)
 * </pre>
 *
 * The proof is an HMAC-SHA256 over the role and both nonces, so neither a replayed nor a reflected proof is valid. The
 * client proves first: a client without the secret learns nothing. An instance is the server's half for one client. It
 * performs no I/O, so one thread can serve all clients.
 *
 * <p>Threading: confined to the thread that serves the client; {@link #connect} is stateless.
 */
final class ControlHandshake implements ServerHandshake {
    private static final int MAGIC = 0x4D414443;
    private static final int VERSION = 2;
    private static final int HEAD_BYTES = 2 * Integer.BYTES;
    private static final int SERVER_BYTES = HEAD_BYTES + Proofs.BYTES;
    private static final int CLIENT_BYTES = SERVER_BYTES + Proofs.BYTES;
    private static final int VERDICT_BYTES = 1 + Proofs.BYTES;
    private static final byte ACCEPTED = 1;
    private static final byte WRONG_SECRET = 2;
    private static final byte WRONG_VERSION = 3;
    private static final byte NO_SECRET = 4;

    private static final byte[] WITHOUT_SECRET = Secrets.controlKey("");

    private final byte[] key;
    private final byte[] nonce = Proofs.nonce();
    private final ByteBuffer received = ByteBuffer.allocate(CLIENT_BYTES);

    /** The server's half, for one client. */
    ControlHandshake(byte[] key) {
        this.key = key;
    }

    // ---- the server's half

    @Override
    public byte[] opening() {
        return greeting(nonce, new byte[0]);
    }

    @Override
    public ByteBuffer received() {
        return received;
    }

    @Override
    public boolean isProven() throws HandshakeException {
        if (received.position() >= Integer.BYTES) {
            checkMagic(received.getInt(0));
        }
        if (received.position() < SERVER_BYTES) {
            return false;
        }
        if (received.getInt(Integer.BYTES) != VERSION) {
            throw refusal(
                    WRONG_VERSION,
                    "a process speaks version " + received.getInt(Integer.BYTES) + " of the control protocol, expected "
                            + VERSION);
        }
        if (received.hasRemaining()) {
            return false;
        }
        byte[] proof = Arrays.copyOfRange(received.array(), SERVER_BYTES, CLIENT_BYTES);
        if (!MessageDigest.isEqual(proof, Proofs.proof(key, "client", nonce, clientNonce()))) {
            throw notProven(proof);
        }
        return true;
    }

    private HandshakeException notProven(byte[] proof) {
        String what = "a process does not know the session's secret";
        if (isOpen(key)) {
            return refusal(NO_SECRET, what + ": it has one, and the session has none");
        }
        boolean without = MessageDigest.isEqual(proof, Proofs.proof(WITHOUT_SECRET, "client", nonce, clientNonce()));
        return refusal(WRONG_SECRET, what + (without ? ": it has none" : ""));
    }

    private static HandshakeException refusal(byte verdict, String message) {
        return new HandshakeException(message, verdict(verdict, new byte[Proofs.BYTES]));
    }

    /** Whether this is the key of a session without secret. */
    private static boolean isOpen(byte[] key) {
        return MessageDigest.isEqual(key, WITHOUT_SECRET);
    }

    private byte[] clientNonce() {
        return Arrays.copyOfRange(received.array(), HEAD_BYTES, SERVER_BYTES);
    }

    /**
     * Accepts the client, which has proved that it knows the secret. Ownership: the socket is the connection's from now
     * on.
     */
    ControlConnection admit(Socket socket) throws IOException {
        byte[] theirs = clientNonce();
        socket.getOutputStream().write(verdict(ACCEPTED, Proofs.proof(key, "server", nonce, theirs)));
        return new ControlConnection(
                socket,
                Proofs.proof(key, "frames of the server", nonce, theirs),
                Proofs.proof(key, "frames of the client", nonce, theirs));
    }

    // ---- the client's half

    /**
     * The client's half. The socket's timeout bounds each read. Ownership: the socket is the connection's from now on,
     * unless this method throws.
     *
     * @throws HandshakeException if the other end speaks another protocol or has another secret
     */
    static ControlConnection connect(Socket socket, byte[] key) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        OutputStream out = socket.getOutputStream();
        checkMagic(in.readInt());
        int version = in.readInt();
        byte[] theirs = read(in);
        byte[] own = Proofs.nonce();
        out.write(greeting(own, Proofs.proof(key, "client", theirs, own)));
        byte verdict = in.readByte();
        if (verdict == WRONG_VERSION || version != VERSION) {
            throw new HandshakeException("it speaks version " + version + " of the control protocol, this process "
                    + VERSION + ": the same release of Madeleine is needed everywhere");
        }
        if (!MessageDigest.isEqual(read(in), Proofs.proof(key, "server", theirs, own)) || verdict != ACCEPTED) {
            String what = isOpen(key)
                    ? "this process has no secret, and the session there has one"
                    : verdict == NO_SECRET
                            ? "the session there has no secret, and this process has one"
                            : "the session there has another secret than this process";
            throw new HandshakeException(what
                    + ": expected the same madeleine.session.secret, or madeleine.session.secret-file, at both ends");
        }
        return new ControlConnection(
                socket,
                Proofs.proof(key, "frames of the client", theirs, own),
                Proofs.proof(key, "frames of the server", theirs, own));
    }

    private static byte[] read(DataInputStream in) throws IOException {
        byte[] bytes = in.readNBytes(Proofs.BYTES);
        if (bytes.length != Proofs.BYTES) {
            throw new EOFException("the connection ended in the handshake");
        }
        return bytes;
    }

    // ---- both

    private static void checkMagic(int magic) throws HandshakeException {
        if (magic != MAGIC) {
            throw new HandshakeException("this is not a Madeleine control connection: the other end begins with 0x"
                    + Integer.toHexString(magic) + ", expected 0x" + Integer.toHexString(MAGIC));
        }
    }

    private static byte[] greeting(byte[] nonce, byte[] proof) {
        return ByteBuffer.allocate(HEAD_BYTES + nonce.length + proof.length)
                .putInt(MAGIC)
                .putInt(VERSION)
                .put(nonce)
                .put(proof)
                .array();
    }

    private static byte[] verdict(byte verdict, byte[] proof) {
        return ByteBuffer.allocate(VERDICT_BYTES).put(verdict).put(proof).array();
    }
}
