package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
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

    /** A socket that keeps what is written to it. */
    private static final class Writing extends Socket {
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();

        @Override
        public OutputStream getOutputStream() {
            return written;
        }

        @Override
        public InputStream getInputStream() {
            return InputStream.nullInputStream();
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
}
