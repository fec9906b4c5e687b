package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BinaryOperator;
import java.util.stream.IntStream;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each byte of what the two ends of a wide-area connection prove counts, and so does each byte of the nonce. */
@Timeout(60)
class WanProofsTest {
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");
    private static final int TIMEOUT_MS = 5_000;
    private static final byte ACCEPTED = 1;
    private static final byte WRONG_SECRET = 2;
    private static final Credentials KEY = new Credentials(new byte[Proofs.BYTES], null);

    private final BlockingQueue<SealedConnection> guests = new ArrayBlockingQueue<>(64);

    /** The bytes with one bit changed, in byte {@code at}. */
    private static byte[] changed(byte[] bytes, int at) {
        byte[] copy = bytes.clone();
        copy[at] ^= (byte) (1 << at % Byte.SIZE);
        return copy;
    }

    // ---- the knock

    private static byte[] nonceOf(Preauthentication server) {
        byte[] opening = server.opening();
        return Arrays.copyOfRange(opening, opening.length - Proofs.BYTES, opening.length);
    }

    /** Whether a server takes this knock. */
    private static boolean takes(Preauthentication server, byte[] knock) throws HandshakeException {
        server.received()
                .putInt(Preauthentication.MAGIC)
                .putInt(Preauthentication.VERSION)
                .put(knock);
        return server.isProven();
    }

    @Test
    void shouldRefuseAKnockOfWhichAnyByteWasChanged() throws Exception {
        Preauthentication honest = new Preauthentication(KEY);
        assertTrue(takes(honest, KEY.proof("knock", nonceOf(honest))));
        for (int i = 0; i < Proofs.BYTES; i++) {
            Preauthentication server = new Preauthentication(KEY);
            byte[] knock = changed(KEY.proof("knock", nonceOf(server)), i);
            assertThrows(HandshakeException.class, () -> takes(server, knock), "byte " + i);
        }
    }

    @Test
    void shouldRefuseAKnockOverAnotherNonceWhicheverByteDiffers() {
        for (int i = 0; i < Proofs.BYTES; i++) {
            Preauthentication server = new Preauthentication(KEY);
            byte[] knock = KEY.proof("knock", changed(nonceOf(server), i));
            assertThrows(HandshakeException.class, () -> takes(server, knock), "byte " + i);
        }
    }

    @Test
    void shouldRefuseAKnockThatAnotherConnectionHasTaken() throws Exception {
        Preauthentication first = new Preauthentication(KEY);
        Preauthentication second = new Preauthentication(KEY);
        byte[] knock = KEY.proof("knock", nonceOf(first));
        assertTrue(takes(first, knock));
        assertFalse(Arrays.equals(nonceOf(first), nonceOf(second)));
        assertThrows(HandshakeException.class, () -> takes(second, knock));
    }

    // ---- the proofs inside of TLS

    /** Where to change a byte: each place costs a handshake, so by default both ends of each of its words. */
    private static int[] placesInTls() {
        IntStream all = IntStream.range(0, Proofs.BYTES);
        return (THOROUGH ? all : all.filter(at -> at % Long.BYTES == 0 || at % Long.BYTES == Long.BYTES - 1)).toArray();
    }

    private static SSLSocket secured(Socket socket, boolean isClient) throws IOException {
        SSLSocket tls =
                (SSLSocket) KEY.tls().getSocketFactory().createSocket(socket, "127.0.0.1", socket.getPort(), true);
        tls.setUseClientMode(isClient);
        tls.setNeedClientAuth(true);
        tls.startHandshake();
        return tls;
    }

    /** Neither of the two suffices: a certificate outlives the session, and a session says little of who is there. */
    @Test
    void shouldBindAProofToTheSessionAndToBothCertificates() throws Exception {
        byte[] certificate = new byte[0];
        byte[][] bindings = new byte[2][];
        try (Listener listener = new Listener(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), KEY, TIMEOUT_MS, guests::add)) {
            for (int i = 0; i < 2; i++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
                    Preauthentication.knock(socket, KEY);
                    SSLSocket tls = secured(socket, true);
                    bindings[i] = Handshake.binding(tls, true);
                    certificate = tls.getSession().getLocalCertificates()[0].getEncoded();
                }
            }
        }
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(certificate);
        int head = 2 * Integer.BYTES;
        for (int i = 0; i < 2; i++) { // both ends have the same certificate here
            int from = head + i * digest.length;
            assertArrayEquals(digest, Arrays.copyOfRange(bindings[0], from, from + digest.length));
        }
        assertEquals(head + 3 * Proofs.BYTES, bindings[0].length);
        assertFalse(Arrays.equals(bindings[0], bindings[1]), "the sessions differ");
    }

    /** What a server says of this client's proof. */
    private static byte verdictOn(int port, BinaryOperator<byte[]> proofOf) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TIMEOUT_MS);
            Preauthentication.knock(socket, KEY);
            SSLSocket tls = secured(socket, true);
            byte[] binding = Handshake.binding(tls, true);
            tls.getOutputStream().write(proofOf.apply(KEY.proof("client", binding), KEY.proof("server", binding)));
            return tls.getInputStream().readNBytes(1 + Proofs.BYTES)[0];
        }
    }

    @Test
    void shouldRefuseAClientsProofOfWhichAnyByteWasChanged() throws Exception {
        try (Listener listener = new Listener(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), KEY, TIMEOUT_MS, guests::add)) {
            assertEquals(ACCEPTED, verdictOn(listener.port(), (client, _) -> client));
            assertEquals(WRONG_SECRET, verdictOn(listener.port(), (_, server) -> server));
            for (int at : placesInTls()) {
                byte verdict = verdictOn(listener.port(), (client, _) -> changed(client, at));
                assertEquals(WRONG_SECRET, verdict, "byte " + at);
            }
            guests.poll(TIMEOUT_MS, TimeUnit.MILLISECONDS).close();
            assertTrue(guests.isEmpty());
        }
    }

    /** Connects to a server that says this verdict, with this in place of its proof. */
    private static void connect(byte verdict, BinaryOperator<byte[]> proofOf) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.startVirtualThread(() -> {
                try (Socket socket = server.accept()) {
                    socket.getOutputStream().write(new Preauthentication(KEY).opening());
                    socket.getInputStream().readNBytes(Preauthentication.BYTES);
                    socket.getOutputStream().write(Preauthentication.ACCEPTED);
                    SSLSocket tls = secured(socket, false);
                    byte[] binding = Handshake.binding(tls, false);
                    byte[] theirs = tls.getInputStream().readNBytes(Proofs.BYTES);
                    byte[] proof = proofOf.apply(KEY.proof("server", binding), theirs);
                    tls.getOutputStream()
                            .write(ByteBuffer.allocate(1 + Proofs.BYTES)
                                    .put(verdict)
                                    .put(proof)
                                    .array());
                    tls.getInputStream().readAllBytes();
                } catch (IOException _) {
                    // the client has hung up
                }
            });
            Handshake.connect("127.0.0.1", server.getLocalPort(), KEY, TIMEOUT_MS)
                    .close();
        }
    }

    @Test
    void shouldNotTrustAServersProofOfWhichAnyByteWasChanged() throws Exception {
        connect(ACCEPTED, (own, _) -> own);
        for (int at : placesInTls()) {
            assertThrows(HandshakeException.class, () -> connect(ACCEPTED, (own, _) -> changed(own, at)), "byte " + at);
        }
    }

    @Test
    void shouldNotTakeItsOwnProofForTheServersNorARefusalForAnAcceptance() {
        assertThrows(HandshakeException.class, () -> connect(ACCEPTED, (_, clients) -> clients));
        assertThrows(HandshakeException.class, () -> connect(WRONG_SECRET, (own, _) -> own));
    }
}
