package io.madeleine.nexus.wan;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.MessageDigest;

/**
 * How a connection begins: both ends prove that they know the secret's key before anything else is read. Who connects proves
 * first: a stranger learns nothing.
 *
 * <pre>
 * server -> client   magic(4) version(4) nonce(32)
 * client -> server   magic(4) version(4) nonce(32) proof(32)
 * server -> client   verdict(1) proof(32)
 * </pre>
 *
 * <p>Threading: stateless.
 */
public final class Handshake {
    private static final int MAGIC = 0x4E585731;

    /** Of these bytes and of all that follow, the layout of requests included: raised whenever one of them changes. */
    static final int VERSION = 3;

    private static final byte ACCEPTED = 1;
    private static final byte WRONG_SECRET = 2;
    private static final int BUFFER_BYTES = 1 << 16;

    private Handshake() {}

    /**
     * Connects, within a time; the caller bounds what comes after.
     *
     * @throws HandshakeException if what is there does not know the secret, or is something else
     * @throws IOException if nothing is there
     */
    public static SealedConnection connect(String host, int port, byte[] key, int timeoutMs) throws IOException {
        Socket socket = new Socket();
        try (Deadline _ = new Deadline(socket, timeoutMs)) {
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(host, port), timeoutMs);
            return greetServer(socket, key, timeoutMs);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static SealedConnection greetServer(Socket socket, byte[] key, int timeoutMs) throws IOException {
        socket.setSoTimeout(timeoutMs);
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        int version = readVersion(in);
        byte[] client = Proofs.nonce();
        if (version != VERSION) {
            socket.getOutputStream().write(greeting(client, new byte[0])); // so that the other end can say so, too
            throw wrongVersion(version);
        }
        byte[] server = read(in, Proofs.BYTES);
        socket.getOutputStream().write(greeting(client, Proofs.proof(key, "client", server, client)));
        byte verdict = in.readByte();
        byte[] proof = read(in, Proofs.BYTES);
        if (verdict != ACCEPTED || !MessageDigest.isEqual(proof, Proofs.proof(key, "server", server, client))) {
            throw new HandshakeException(
                    "its secret is another one: expected the same madeleine.session.secret at both ends");
        }
        return new SealedConnection(
                socket,
                in,
                Proofs.proof(key, "client to server", server, client),
                Proofs.proof(key, "server to client", server, client));
    }

    /** The other end's part; the caller bounds its time. */
    static SealedConnection accept(Socket socket, byte[] key, int timeoutMs) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(timeoutMs);
        byte[] server = Proofs.nonce();
        socket.getOutputStream().write(greeting(server, new byte[0]));
        DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        int version = readVersion(in);
        if (version != VERSION) {
            throw wrongVersion(version); // the client has read ours
        }
        byte[] client = read(in, Proofs.BYTES);
        byte[] proof = read(in, Proofs.BYTES);
        if (!MessageDigest.isEqual(proof, Proofs.proof(key, "client", server, client))) {
            socket.getOutputStream().write(verdict(WRONG_SECRET, new byte[Proofs.BYTES]));
            throw new HandshakeException("it does not know the secret");
        }
        socket.getOutputStream().write(verdict(ACCEPTED, Proofs.proof(key, "server", server, client)));
        return new SealedConnection(
                socket,
                in,
                Proofs.proof(key, "server to client", server, client),
                Proofs.proof(key, "client to server", server, client));
    }

    private static byte[] greeting(byte[] nonce, byte[] proof) {
        return ByteBuffer.allocate(2 * Integer.BYTES + nonce.length + proof.length)
                .putInt(MAGIC)
                .putInt(VERSION)
                .put(nonce)
                .put(proof)
                .array();
    }

    private static byte[] verdict(byte verdict, byte[] proof) {
        return ByteBuffer.allocate(1 + proof.length).put(verdict).put(proof).array();
    }

    private static int readVersion(DataInputStream in) throws IOException {
        int magic = in.readInt();
        if (magic != MAGIC) {
            throw new HandshakeException("what is there is no context that can be attached to: it begins with 0x"
                    + Integer.toHexString(magic));
        }
        return in.readInt();
    }

    private static byte[] read(DataInputStream in, int count) throws IOException {
        byte[] bytes = new byte[count];
        in.readFully(bytes);
        return bytes;
    }

    private static HandshakeException wrongVersion(int found) {
        return new HandshakeException("it speaks version " + found + " of the protocol: expected " + VERSION
                + ", as this process does; the same release of Madeleine is needed at both ends");
    }
}
