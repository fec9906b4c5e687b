package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A proof of either side covers every bit of it and both nonces, and is worth nothing in another handshake. */
@Timeout(60)
class ControlHandshakeTest {
    private static final byte[] KEY = Secrets.controlKey("a secret of the test, long enough for anybody");
    private static final int HEAD_BYTES = 2 * Integer.BYTES;
    private static final int MAGIC = 0x4D414443;
    private static final int VERSION = 2;

    /** A socket that keeps what is written to it, and from which these bytes can be read. */
    private static final class Writing extends Socket {
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();
        private final InputStream in;

        Writing(byte... toRead) {
            in = new ByteArrayInputStream(toRead);
        }

        @Override
        public OutputStream getOutputStream() {
            return written;
        }

        @Override
        public InputStream getInputStream() {
            return in;
        }
    }

    /** A client in a thread of its own, of which the test is the server. */
    private static final class Client implements AutoCloseable {
        private final Socket socket;
        private final Socket ours;
        private final CompletableFuture<ControlConnection> connected = new CompletableFuture<>();

        Client() throws Exception {
            try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                socket = new Socket(listening.getInetAddress(), listening.getLocalPort());
                ours = listening.accept();
            }
            Thread.ofVirtual().start(() -> {
                try {
                    connected.complete(ControlHandshake.connect(socket, KEY));
                } catch (Throwable e) {
                    connected.completeExceptionally(e);
                }
            });
        }

        /** What the client answers to this opening. */
        byte[] answer(byte[] opening) throws Exception {
            ours.getOutputStream().write(opening);
            return ours.getInputStream().readNBytes(HEAD_BYTES + 2 * Proofs.BYTES);
        }

        boolean accepts(byte[] verdict) throws Exception {
            ours.getOutputStream().write(verdict);
            try {
                ControlConnection _ = connected.get();
                return true;
            } catch (ExecutionException e) {
                assertTrue(e.getCause() instanceof HandshakeException, () -> "not refused, but " + e.getCause());
                return false;
            }
        }

        @Override
        public void close() throws IOException {
            ours.close();
            socket.close();
        }
    }

    private static byte[] flipped(byte[] bytes, int bit) {
        byte[] changed = bytes.clone();
        changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
        return changed;
    }

    private static boolean isProven(ControlHandshake server, byte[] said) throws HandshakeException {
        server.received().clear();
        server.received().put(said);
        return server.isProven();
    }

    private static byte[] verdict(ControlHandshake server) throws Exception {
        try (Writing socket = new Writing()) {
            ControlConnection _ = server.admit(socket);
            return socket.written.toByteArray();
        }
    }

    @Test
    void shouldRefuseAClientForEachBitOfItsNonceAndItsProof() throws Exception {
        ControlHandshake server = new ControlHandshake(KEY);
        try (Client client = new Client()) {
            byte[] said = client.answer(server.opening());
            for (int bit = HEAD_BYTES * Byte.SIZE; bit < said.length * Byte.SIZE; bit++) {
                byte[] changed = flipped(said, bit);
                assertThrows(HandshakeException.class, () -> isProven(server, changed), "bit " + bit);
            }
            assertTrue(isProven(server, said));
            assertTrue(client.accepts(verdict(server)));
        }
    }

    @Test
    void shouldRefuseAServerForEachByteOfItsVerdict() throws Exception {
        for (int at = 0; at <= Proofs.BYTES; at++) {
            ControlHandshake server = new ControlHandshake(KEY);
            try (Client client = new Client()) {
                assertTrue(isProven(server, client.answer(server.opening())));
                byte[] changed = flipped(verdict(server), at * Byte.SIZE + at % Byte.SIZE);
                assertFalse(client.accepts(changed), "byte " + at);
            }
        }
    }

    @Test
    void shouldTakeNothingFromAnotherHandshake() throws Exception {
        ControlHandshake before = new ControlHandshake(KEY);
        ControlHandshake now = new ControlHandshake(KEY);
        try (Client earlier = new Client();
                Client later = new Client()) {
            byte[] said = earlier.answer(before.opening());
            assertTrue(isProven(before, said));
            assertThrows(HandshakeException.class, () -> isProven(now, said), "a client's proof, repeated");
            assertTrue(isProven(now, later.answer(now.opening())));
            assertFalse(later.accepts(verdict(before)), "a server's proof, repeated");
        }
    }

    @Test
    void shouldNotTakeAProofThatIsSentBack() throws Exception {
        ControlHandshake server = new ControlHandshake(KEY);
        try (Client client = new Client()) {
            byte[] said = client.answer(server.opening());
            byte[] reflected = new byte[1 + Proofs.BYTES];
            reflected[0] = 1;
            System.arraycopy(said, HEAD_BYTES + Proofs.BYTES, reflected, 1, Proofs.BYTES);
            assertFalse(client.accepts(reflected), "its own proof");
        }
        byte[] opening = server.opening();
        byte[] nothing = Arrays.copyOf(opening, HEAD_BYTES + 2 * Proofs.BYTES);
        assertEquals(HEAD_BYTES + Proofs.BYTES, opening.length);
        assertThrows(
                HandshakeException.class, () -> isProven(server, nothing), "the server's own nonce, without a proof");
    }

    /** The bytes of a client: right ones, unless a test changes them. */
    private static byte[] said(ControlHandshake server, byte[] key, int magic, int version) {
        byte[] theirs = Arrays.copyOfRange(server.opening(), HEAD_BYTES, HEAD_BYTES + Proofs.BYTES);
        byte[] own = Proofs.nonce();
        return ByteBuffer.allocate(HEAD_BYTES + 2 * Proofs.BYTES)
                .putInt(magic)
                .putInt(version)
                .put(own)
                .put(Proofs.proof(key, "client", theirs, own))
                .array();
    }

    /** Has the server read one byte after the other; returns how many it has read when it refuses. */
    private static int refusedAfter(ControlHandshake server, byte[] said, HandshakeException[] why) {
        for (int i = 0; i < said.length; i++) {
            server.received().put(said[i]);
            try {
                assertFalse(server.isProven(), "after " + i);
            } catch (HandshakeException e) {
                why[0] = e;
                return i + 1;
            }
        }
        throw new AssertionError("it was admitted");
    }

    @Test
    void shouldJudgeAClientAsSoonAsItCanAndSayWhatIsWrong() throws Exception {
        ControlHandshake right = new ControlHandshake(KEY);
        byte[] said = said(right, KEY, MAGIC, VERSION);
        for (int i = 0; i < said.length; i++) {
            right.received().put(said[i]);
            assertEquals(i == said.length - 1, right.isProven(), "after byte " + i);
        }
        HandshakeException[] why = new HandshakeException[1];
        ControlHandshake server = new ControlHandshake(KEY);
        assertEquals(4, refusedAfter(server, said(server, KEY, MAGIC ^ 1, VERSION), why));
        assertTrue(why[0].getMessage().contains("not a Madeleine control connection"), why[0]::getMessage);
        assertEquals(0, why[0].farewell().length);
        server = new ControlHandshake(KEY);
        assertEquals(HEAD_BYTES + Proofs.BYTES, refusedAfter(server, said(server, KEY, MAGIC, VERSION + 1), why));
        assertTrue(why[0].getMessage().contains("version 3 of the control protocol, expected 2"), why[0]::getMessage);
        assertRefuses(3, why[0]);

        byte[] none = Secrets.controlKey("");
        server = new ControlHandshake(KEY);
        assertEquals(said.length, refusedAfter(server, said(server, none, MAGIC, VERSION), why));
        assertEquals("a process does not know the session's secret: it has none", why[0].getMessage());
        assertRefuses(2, why[0]);
        server = new ControlHandshake(KEY);
        assertEquals(said.length, refusedAfter(server, said(server, new byte[] {1}, MAGIC, VERSION), why));
        assertEquals("a process does not know the session's secret", why[0].getMessage());
        assertRefuses(2, why[0]);
        server = new ControlHandshake(none);
        assertEquals(said.length, refusedAfter(server, said(server, KEY, MAGIC, VERSION), why));
        assertEquals(
                "a process does not know the session's secret: it has one, and the session has none",
                why[0].getMessage());
        assertRefuses(4, why[0]);
    }

    private static void assertRefuses(int verdict, HandshakeException refusal) {
        byte[] farewell = new byte[1 + Proofs.BYTES];
        farewell[0] = (byte) verdict;
        assertArrayEquals(farewell, refusal.farewell());
    }

    /** What a client with this key says to a user whose server refuses it so. */
    private static String refused(byte[] key, int version, int verdict) throws Exception {
        byte[] opening = new ControlHandshake(KEY).opening();
        opening[HEAD_BYTES - 1] = (byte) version;
        byte[] said = new byte[opening.length + 1 + Proofs.BYTES];
        System.arraycopy(opening, 0, said, 0, opening.length);
        said[opening.length] = (byte) verdict;
        try (Writing socket = new Writing(said)) {
            return assertThrows(HandshakeException.class, () -> ControlHandshake.connect(socket, key))
                    .getMessage();
        }
    }

    @Test
    void shouldTellAClientWhatToChange() throws Exception {
        byte[] none = Secrets.controlKey("");
        String text = refused(KEY, VERSION + 1, 3);
        assertTrue(text.startsWith("it speaks version 3 of the control protocol, this process 2"), text);
        assertEquals(text, refused(KEY, VERSION + 1, 2), "whatever it says of the secret");
        text = refused(KEY, VERSION, 3);
        assertTrue(text.startsWith("it speaks version 2"), text);
        text = refused(KEY, VERSION, 2);
        assertTrue(text.startsWith("the session there has another secret than this process"), text);
        text = refused(KEY, VERSION, 4);
        assertTrue(text.startsWith("the session there has no secret, and this process has one"), text);
        text = refused(none, VERSION, 2);
        assertTrue(text.startsWith("this process has no secret, and the session there has one"), text);
        text = refused(KEY, VERSION, 1);
        assertTrue(text.startsWith("the session there has another secret"), "an acceptance without proof: " + text);

        byte[] opening = new ControlHandshake(KEY).opening();
        for (int length = 0; length < opening.length; length++) {
            try (Writing socket = new Writing(Arrays.copyOf(opening, length))) {
                assertThrows(EOFException.class, () -> ControlHandshake.connect(socket, KEY), length + " bytes");
                assertEquals(0, socket.written.size(), "nothing is said to an end that has not begun");
            }
        }
        try (Writing socket = new Writing(Arrays.copyOf(opening, opening.length + Proofs.BYTES))) {
            assertThrows(EOFException.class, () -> ControlHandshake.connect(socket, KEY), "half a verdict");
        }
        opening[0] ^= 1;
        try (Writing socket = new Writing(opening)) {
            assertThrows(HandshakeException.class, () -> ControlHandshake.connect(socket, KEY));
            assertEquals(0, socket.written.size(), "another program is told nothing");
        }
    }
}
