package io.madeleine.nexus.wan;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * How a connection begins. Both ends say which version they speak, so that each can tell what the other one is; TLS 1.3
 * follows, with certificates at both ends; and in it both prove that they know the secret's key before anything else is read.
 * Who connects proves first: a stranger learns nothing.
 *
 * <pre>
 * server -> client   magic(4) version(4)
 * client -> server   magic(4) version(4)
 *                    TLS 1.3, and in it:
 * client -> server   proof(32)
 * server -> client   verdict(1) proof(32)
 * </pre>
 *
 * <p>A proof is about both versions and what names the TLS session: a secret that it exports (RFC 8446, section 7.5) and both
 * certificates. Who stands between has two sessions, and passes on proofs in vain.
 *
 * <p>Threading: stateless.
 */
public final class Handshake {
    private static final int MAGIC = 0x4E585731;

    /** Of these bytes and of all that follow, the layout of requests included: raised whenever one of them changes. */
    static final int VERSION = 4;

    static final int GREETING_BYTES = 2 * Integer.BYTES;

    private static final byte ACCEPTED = 1;
    private static final byte WRONG_SECRET = 2;
    private static final String EXPORTER = "EXPORTER-madeleine-nexus-1";
    private static final String PROTOCOL = "TLSv1.3";
    private static final String[] SUITES = {
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"
    };

    private Handshake() {}

    /**
     * Connects, within a time; the caller bounds what comes after.
     *
     * @throws HandshakeException if what is there does not know the secret, or is something else
     * @throws IOException if nothing is there
     */
    public static SealedConnection connect(String host, int port, Credentials credentials, int timeoutMs)
            throws IOException {
        Socket socket = new Socket();
        try (Deadline _ = new Deadline(socket, timeoutMs)) {
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(host, port), timeoutMs);
            socket.setSoTimeout(timeoutMs);
            int version = readVersion(socket);
            socket.getOutputStream().write(greeting()); // in any case: so that the other end can say it, too
            if (version != VERSION) {
                throw wrongVersion(version);
            }
            SSLSocket tls = (SSLSocket) credentials.tls().getSocketFactory().createSocket(socket, host, port, true);
            tls.setUseClientMode(true);
            return proveToServer(socket, secured(tls), credentials);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static SealedConnection proveToServer(Socket socket, SSLSocket tls, Credentials credentials)
            throws IOException {
        byte[] binding = binding(tls, true);
        byte[] verdict;
        try {
            tls.getOutputStream().write(credentials.proof("client", binding));
            verdict = read(tls, 1 + Proofs.BYTES);
        } catch (SSLException e) { // with TLS 1.3 the client is through before the server has seen its certificate
            throw refusedByTls(e);
        }
        byte[] proof = java.util.Arrays.copyOfRange(verdict, 1, verdict.length);
        if (verdict[0] != ACCEPTED || !MessageDigest.isEqual(proof, credentials.proof("server", binding))) {
            throw new HandshakeException(
                    "its secret is another one: expected the same madeleine.session.secret at both ends");
        }
        return new SealedConnection(socket, tls, binding);
    }

    /** The other end's part; the caller bounds its time. */
    static SealedConnection accept(Socket socket, Credentials credentials, int timeoutMs) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(timeoutMs);
        socket.getOutputStream().write(greeting());
        int version;
        try {
            version = readVersion(socket);
        } catch (HandshakeException e) {
            String expected = "expected version " + VERSION + " of Madeleine's nexus protocol, over TLS 1.3\n";
            socket.getOutputStream().write(expected.getBytes(StandardCharsets.US_ASCII));
            throw e;
        }
        if (version != VERSION) {
            throw wrongVersion(version); // the client has read ours
        }
        SSLSocket tls = (SSLSocket) credentials.tls().getSocketFactory().createSocket(socket, null, true);
        tls.setUseClientMode(false);
        secured(tls);
        byte[] binding = binding(tls, false);
        if (!MessageDigest.isEqual(read(tls, Proofs.BYTES), credentials.proof("client", binding))) {
            tls.getOutputStream().write(verdict(WRONG_SECRET, new byte[Proofs.BYTES]));
            throw new HandshakeException("it does not know the secret");
        }
        tls.getOutputStream().write(verdict(ACCEPTED, credentials.proof("server", binding)));
        return new SealedConnection(socket, tls, binding);
    }

    private static SSLSocket secured(SSLSocket tls) throws IOException {
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setProtocols(new String[] {PROTOCOL});
        parameters.setCipherSuites(SUITES);
        parameters.setNeedClientAuth(true);
        tls.setSSLParameters(parameters);
        try {
            tls.startHandshake();
        } catch (SSLException e) {
            throw refusedByTls(e);
        }
        return tls;
    }

    private static IOException refusedByTls(SSLException e) {
        return e.getCause() instanceof SocketException || e.getCause() instanceof EOFException
                ? e // lost, not refused
                : new HandshakeException("TLS 1.3 cannot be agreed on: " + e.getMessage()
                        + "; expected certificates that each end trusts (ContextOptions.withTls), or none at both");
    }

    /** What names the session, the same at both ends. */
    private static byte[] binding(SSLSocket tls, boolean isClient) throws IOException {
        ExtendedSSLSession session = (ExtendedSSLSession) tls.getSession();
        try {
            byte[] own = digest(session.getLocalCertificates());
            byte[] peer = digest(session.getPeerCertificates());
            byte[] exported = session.exportKeyingMaterialData(EXPORTER, new byte[0], Proofs.BYTES);
            return ByteBuffer.allocate(2 * Integer.BYTES + 3 * Proofs.BYTES)
                    .putInt(VERSION) // the client's, and
                    .putInt(VERSION) // the server's: other ones have not come so far
                    .put(isClient ? own : peer)
                    .put(isClient ? peer : own)
                    .put(exported)
                    .array();
        } catch (GeneralSecurityException e) {
            throw new IOException("the TLS session cannot be named: " + e, e);
        }
    }

    private static byte[] digest(Certificate[] chain) throws GeneralSecurityException {
        return MessageDigest.getInstance("SHA-256").digest(chain[0].getEncoded());
    }

    private static byte[] greeting() {
        return ByteBuffer.allocate(GREETING_BYTES).putInt(MAGIC).putInt(VERSION).array();
    }

    private static byte[] verdict(byte verdict, byte[] proof) {
        return ByteBuffer.allocate(1 + proof.length).put(verdict).put(proof).array();
    }

    private static int readVersion(Socket socket) throws IOException {
        int magic = ByteBuffer.wrap(read(socket, Integer.BYTES)).getInt();
        if (magic != MAGIC) {
            throw new HandshakeException("what is there is no context that can be attached to: it begins with 0x"
                    + Integer.toHexString(magic) + ", expected 0x" + Integer.toHexString(MAGIC)
                    + ", as version " + VERSION + " of Madeleine's nexus protocol does");
        }
        return ByteBuffer.wrap(read(socket, Integer.BYTES)).getInt();
    }

    /** Not a byte more: TLS begins right behind. */
    private static byte[] read(Socket socket, int count) throws IOException {
        byte[] bytes = socket.getInputStream().readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException();
        }
        return bytes;
    }

    private static HandshakeException wrongVersion(int found) {
        return new HandshakeException("it speaks version " + found + " of the protocol: expected " + VERSION
                + ", as this process does; the same release of Madeleine is needed at both ends");
    }
}
