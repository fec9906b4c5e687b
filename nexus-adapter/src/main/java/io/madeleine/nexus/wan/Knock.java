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
 * How a connection begins, before TLS: both ends say which version they speak, so that each can tell what the other one is, and
 * who connects shows that it knows the secret's key, by an HMAC-SHA256 over what the server has just made up.
 *
 * <pre>
 * server -> client   magic(4) version(4) nonce(32)
 * client -> server   magic(4) version(4) knock(32)
 * server -> client   verdict(1)
 * </pre>
 *
 * <p>It costs the server next to nothing and keeps strangers out of TLS, which costs much. It proves nothing to the end: who stands
 * between may pass on a guest's knock, and comes as far as TLS, once for each guest ({@link Handshake}).
 *
 * <p>An object is the server's half, which reads and writes nothing itself, so that one thread can serve all comers.
 *
 * <p>Threading: confined to who serves it; {@link #knock} is stateless.
 */
final class Knock implements ServerHandshake {
    static final int MAGIC = 0x4E585731;

    /** Of these bytes and of all that follow, the layout of requests included: raised whenever one of them changes. */
    static final int VERSION = 6;

    static final int GREETING_BYTES = 2 * Integer.BYTES;
    static final int BYTES = GREETING_BYTES + Proofs.BYTES;
    static final byte ACCEPTED = 1;
    static final byte WRONG_SECRET = 2;

    private static final String PURPOSE = "knock";

    private final Credentials credentials;
    private final byte[] nonce = Proofs.nonce();
    private final ByteBuffer received = ByteBuffer.allocate(BYTES);

    /** The server's half, for one client. */
    Knock(Credentials credentials) {
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
            checkVersion(received.getInt(Integer.BYTES)); // the client has read ours
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
     * @throws HandshakeException if what is there does not know the secret, or is something else
     * @throws TurnedAwayException if the server has let go of this connection before it was judged
     */
    static void knock(Socket socket, Credentials credentials) throws IOException {
        checkMagic(ByteBuffer.wrap(read(socket, Integer.BYTES)).getInt());
        int version = ByteBuffer.wrap(read(socket, Integer.BYTES)).getInt();
        if (version != VERSION) {
            socket.getOutputStream().write(greeting(new byte[0])); // so that the other end can say it, too
            checkVersion(version);
        }
        byte verdict;
        try {
            byte[] theirs = read(socket, Proofs.BYTES);
            socket.getOutputStream().write(greeting(credentials.proof(PURPOSE, theirs)));
            verdict = read(socket, 1)[0];
        } catch (SocketException | EOFException e) {
            throw new TurnedAwayException(e);
        }
        if (verdict != ACCEPTED) {
            throw new HandshakeException(
                    "its secret is another one: expected the same madeleine.session.secret at both ends");
        }
    }

    /** The server's side was short of places, or of something else. */
    static final class TurnedAwayException extends IOException {
        private static final long serialVersionUID = 1L;

        private TurnedAwayException(IOException cause) {
            super(cause);
        }
    }

    /** Not a byte more: TLS begins right behind. */
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
                    "what is there is no context that can be attached to: it begins with 0x"
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
