package io.madeleine.nexus.wan;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * The start of a connection. The client {@linkplain Preauthentication knocks}; TLS 1.3 follows, with certificates at
 * both ends; inside it, both ends prove that they know the key derived from the secret, before anything else is read.
 * The client proves first, so that a program without the secret learns nothing.
 *
 * <pre>
 * client -> server   proof(32)
 * server -> client   verdict(1) proof(32)
 * </pre>
 *
 * <p>A proof covers both versions and a binding to the TLS session: a secret that the session exports (RFC 8446,
 * section 7.5) and both certificates. A man in the middle has two sessions, for neither of which the other end's proof
 * is valid.
 *
 * <p>Threading: stateless.
 */
public final class Handshake {
    private static final byte ACCEPTED = 1;
    private static final byte WRONG_SECRET = 2;
    private static final String EXPORTER = "EXPORTER-madeleine-nexus-1";
    private static final String PROTOCOL = "TLSv1.3";
    private static final String[] SUITES = {
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"
    };
    private static final long FIRST_PAUSE_MS = 20;
    private static final long MAX_PAUSE_MS = 500;
    private static final int FAREWELL_MS = 1_000;

    private Handshake() {}

    /**
     * Connects within {@code timeoutMs}; the caller bounds the time of what follows ({@link
     * SealedConnection#closeAfter}). If the server closes the connection before it has judged the client's proof, for
     * instance because it has too many unauthenticated connections, this tries again.
     *
     * @throws HandshakeException if the other end does not know the secret, or is another program
     * @throws SocketTimeoutException if it takes longer
     * @throws IOException if nothing listens there
     */
    public static SealedConnection connect(String host, int port, Credentials credentials, int timeoutMs)
            throws IOException {
        long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        for (int attempt = 1; ; attempt++) {
            try {
                return connectOnce(host, port, credentials, Deadline.leftMs(untilNs, System.nanoTime()));
            } catch (Preauthentication.RejectedException e) {
                long pauseMs = pauseMs(attempt);
                if (TimeUnit.NANOSECONDS.toMillis(untilNs - System.nanoTime()) <= pauseMs) {
                    throw new IOException(
                            "it has closed the connection " + attempt + " times before the end of the handshake: too"
                                    + " many connections may be open there, or memory is short; "
                                    + Deadline.text(timeoutMs),
                            e);
                }
                pause(pauseMs);
            } catch (SocketTimeoutException e) {
                throw (IOException) new SocketTimeoutException(Deadline.text(timeoutMs)).initCause(e);
            }
        }
    }

    /**
     * The pause before an attempt: exponential with a random part, so that clients turned away together do not come
     * back together.
     */
    private static long pauseMs(int attempt) {
        long mostMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS << Math.min(attempt - 1, 10));
        return mostMs / 2 + ThreadLocalRandom.current().nextLong(mostMs / 2 + 1);
    }

    private static void pause(long pauseMs) throws InterruptedIOException {
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted before the next attempt to connect");
        }
    }

    private static SealedConnection connectOnce(String host, int port, Credentials credentials, int timeoutMs)
            throws IOException {
        Socket socket = new Socket();
        try (Deadline deadline = new Deadline(socket, timeoutMs)) {
            try {
                socket.setTcpNoDelay(true);
                socket.connect(new InetSocketAddress(host, port), timeoutMs);
                socket.setSoTimeout(timeoutMs);
                Preauthentication.knock(socket, credentials);
                return proveToServer(socket, host, port, credentials);
            } catch (IOException | RuntimeException | Error e) {
                // any exception: the program's certificates and trust managers run here
                socket.close();
                if (deadline.explains(e)) {
                    throw (IOException) new SocketTimeoutException().initCause(e);
                }
                throw e;
            }
        }
    }

    private static SealedConnection proveToServer(Socket socket, String host, int port, Credentials credentials)
            throws IOException {
        SSLSocket tls = (SSLSocket) credentials.tls().getSocketFactory().createSocket(socket, host, port, false);
        tls.setUseClientMode(true);
        byte[] binding;
        byte[] verdict;
        try { // with TLS 1.3 the client finishes before the server has seen its certificate
            secured(tls);
            if (tls.getSession().getLocalCertificates() == null) {
                awaitEnd(tls); // the server notices the missing certificate itself, and logs it, too
                throw new HandshakeException(
                        "this process has no certificate that the other end accepts: expected one of an"
                                + " authority that it trusts (ContextOptions.withTls), or none at both");
            }
            binding = binding(tls, true);
            tls.getOutputStream().write(credentials.proof("client", binding));
            verdict = read(tls, 1 + Proofs.BYTES);
        } catch (SSLException e) {
            throw isLoss(e) ? lost(e) : refusedByTls(e);
        } catch (SocketException | EOFException e) {
            throw lost(e);
        }
        byte[] proof = java.util.Arrays.copyOfRange(verdict, 1, verdict.length);
        if (verdict[0] != ACCEPTED || !MessageDigest.isEqual(proof, credentials.proof("server", binding))) {
            throw new HandshakeException(
                    "its secret is another one: expected the same madeleine.session.secret at both ends");
        }
        return new SealedConnection(socket, tls, binding);
    }

    /** The server's part, for a client with a correct knock; the caller bounds its time. */
    static SealedConnection accept(Socket socket, Credentials credentials, int timeoutMs) throws IOException {
        socket.setSoTimeout(timeoutMs);
        socket.getOutputStream().write(Preauthentication.ACCEPTED);
        SSLSocket tls = (SSLSocket) credentials.tls().getSocketFactory().createSocket(socket, null, false);
        tls.setUseClientMode(false);
        try {
            secured(tls);
        } catch (SSLException e) {
            if (isLoss(e)) {
                throw e;
            }
            socket.shutdownOutput(); // after the TLS alert
            socket.setSoTimeout(Math.min(timeoutMs, FAREWELL_MS));
            awaitEnd(socket); // else unread data of the client would reset the connection before it has read the alert
            throw refusedByTls(e);
        }
        byte[] binding = binding(tls, false);
        if (!MessageDigest.isEqual(read(tls, Proofs.BYTES), credentials.proof("client", binding))) {
            tls.getOutputStream().write(verdict(WRONG_SECRET, new byte[Proofs.BYTES]));
            throw new HandshakeException("it does not know the secret");
        }
        tls.getOutputStream().write(verdict(ACCEPTED, credentials.proof("server", binding)));
        return new SealedConnection(socket, tls, binding);
    }

    private static void secured(SSLSocket tls) throws IOException {
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setProtocols(new String[] {PROTOCOL});
        parameters.setCipherSuites(SUITES);
        parameters.setNeedClientAuth(true);
        tls.setSSLParameters(parameters);
        tls.startHandshake();
    }

    private static boolean isLoss(SSLException e) {
        return e.getCause() instanceof SocketException || e.getCause() instanceof EOFException;
    }

    private static HandshakeException refusedByTls(SSLException e) {
        return new HandshakeException("the TLS 1.3 handshake failed: " + e.getMessage()
                + "; expected certificates that each end trusts (ContextOptions.withTls), or none at both");
    }

    private static IOException lost(IOException e) {
        String seen = e.getMessage() == null ? "it was closed" : e.getMessage();
        return new IOException(
                "the connection has ended during the TLS 1.3 handshake: " + seen + "; the other end may not accept this"
                        + " process's certificate (ContextOptions.withTls); its log says why",
                e);
    }

    /** Reads and drops data until the other end closes the stream; the socket's read timeout bounds it. */
    private static void awaitEnd(Socket socket) {
        try {
            socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (IOException _) {
            // a failed read ends the wait, too
        }
    }

    /** The bytes that name the TLS session, the same at both ends. */
    static byte[] binding(SSLSocket tls, boolean isClient) throws IOException {
        ExtendedSSLSession session = (ExtendedSSLSession) tls.getSession();
        try {
            byte[] own = digest(session.getLocalCertificates());
            byte[] peer = digest(session.getPeerCertificates());
            byte[] exported = session.exportKeyingMaterialData(EXPORTER, new byte[0], Proofs.BYTES);
            return ByteBuffer.allocate(2 * Integer.BYTES + 3 * Proofs.BYTES)
                    .putInt(Preauthentication.VERSION) // the client's
                    .putInt(Preauthentication.VERSION) // the server's, which is the same: the knock has compared them
                    .put(isClient ? own : peer)
                    .put(isClient ? peer : own)
                    .put(exported)
                    .array();
        } catch (GeneralSecurityException e) {
            throw new IOException("the TLS session cannot be bound to its certificates: " + e, e);
        }
    }

    private static byte[] digest(Certificate[] chain) throws GeneralSecurityException {
        return MessageDigest.getInstance("SHA-256").digest(chain[0].getEncoded());
    }

    private static byte[] verdict(byte verdict, byte[] proof) {
        return ByteBuffer.allocate(1 + proof.length).put(verdict).put(proof).array();
    }

    private static byte[] read(Socket socket, int count) throws IOException {
        byte[] bytes = socket.getInputStream().readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException();
        }
        return bytes;
    }
}
