package io.madeleine.nexus.wan;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import io.madeleine.admission.ServerHandshake;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The start of a connection before TLS. Both ends say their protocol version, so that each can report a mismatch. The
 * client shows that it knows the key derived from the secret, by an HMAC-SHA256 over a nonce of the server.
 *
 * <pre>
 * server -> client   magic(4) version(4) nonce(32)
 * client -> server   magic(4) version(4) knock(32)
 * server -> client   verdict(1)
 * </pre>
 *
 * <p>The server checks a knock at little cost, before it spends much on TLS. A knock is no final proof: a man in the
 * middle may relay the knock of a client, and so reach TLS once per client; there it fails ({@link Handshake}).
 *
 * <p>An object of this class is the server's half. It does no I/O itself, so that one thread can serve all connections.
 *
 * <p>Threading: confined to the serving thread; {@link #knock} is stateless.
 */
final class Preauthentication implements ServerHandshake {
    static final int MAGIC = 0x4E585731;

    /**
     * The version of these bytes and of all that follow, the layout of requests included. Raise it whenever one of them
     * changes.
     */
    static final int VERSION = 6;

    static final int GREETING_BYTES = 2 * Integer.BYTES;
    static final int BYTES = GREETING_BYTES + Proofs.BYTES;
    static final byte ACCEPTED = 1;
    static final byte WRONG_SECRET = 2;

    private static final String PURPOSE = "knock";

    private final Credentials credentials;
    private final byte[] nonce = Proofs.nonce();
    private final ByteBuffer received = ByteBuffer.allocate(BYTES);

    /** Creates the server's half for one client. */
    Preauthentication(Credentials credentials) {
        this.credentials = credentials;
    }

    @Override
    public byte[] opening() {
        return greeting(nonce);
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
        if (received.position() >= GREETING_BYTES) {
            // the client has read the server's version, and reports the mismatch, too
            checkVersion(received.getInt(Integer.BYTES));
        }
        if (received.hasRemaining()) {
            return false;
        }
        byte[] said = Arrays.copyOfRange(received.array(), GREETING_BYTES, BYTES);
        if (!MessageDigest.isEqual(said, credentials.proof(PURPOSE, nonce))) {
            throw new HandshakeException("it does not know the secret", new byte[] {WRONG_SECRET});
        }
        return true;
    }

    /**
     * The client's half.
     *
     * @throws HandshakeException if the other end does not know the secret, or is another program
     * @throws RejectedException if the server has closed the connection before it has judged it
     */
    static void knock(Socket socket, Credentials credentials) throws IOException {
        checkMagic(ByteBuffer.wrap(read(socket, Integer.BYTES)).getInt());
        int version = ByteBuffer.wrap(read(socket, Integer.BYTES)).getInt();
        if (version != VERSION) {
            socket.getOutputStream().write(greeting(new byte[0])); // so that the other end can report the mismatch, too
            checkVersion(version);
        }
        byte verdict;
        try {
            byte[] theirs = read(socket, Proofs.BYTES);
            socket.getOutputStream().write(greeting(credentials.proof(PURPOSE, theirs)));
            verdict = read(socket, 1)[0];
        } catch (SocketException | EOFException e) {
            throw new RejectedException(e);
        }
        if (verdict != ACCEPTED) {
            throw new HandshakeException(
                    "its secret is another one: expected the same madeleine.session.secret at both ends");
        }
    }

    /** The server has closed the connection before it has judged it, for lack of places, for instance. */
    static final class RejectedException extends IOException {
        private static final long serialVersionUID = 1L;

        private RejectedException(IOException cause) {
            super(cause);
        }
    }

    /** Reads exactly this many bytes: TLS data follow directly. */
    private static byte[] read(Socket socket, int count) throws IOException {
        byte[] bytes = socket.getInputStream().readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException();
        }
        return bytes;
    }

    private static byte[] greeting(byte[] rest) {
        return ByteBuffer.allocate(GREETING_BYTES + rest.length)
                .putInt(MAGIC)
                .putInt(VERSION)
                .put(rest)
                .array();
    }

    private static void checkMagic(int found) throws HandshakeException {
        if (found != MAGIC) {
            String expected = "expected version " + VERSION + " of Madeleine's nexus protocol, over TLS 1.3\n";
            throw new HandshakeException(
                    "the other end is no context that can be attached to: it begins with 0x"
                            + Integer.toHexString(found) + ", expected 0x" + Integer.toHexString(MAGIC)
                            + ", as version " + VERSION + " of Madeleine's nexus protocol does",
                    expected.getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static void checkVersion(int found) throws HandshakeException {
        if (found != VERSION) {
            throw new HandshakeException("it speaks version " + found + " of the protocol: expected " + VERSION
                    + ", as this process does; the same release of Madeleine is needed at both ends");
        }
    }
}
