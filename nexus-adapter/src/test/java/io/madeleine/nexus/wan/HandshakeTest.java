package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A handshake that fails: what each end says of it, when it tries again, and that it hangs up. */
@Timeout(30)
class HandshakeTest {
    private static final Credentials KEY = new Credentials(new byte[Proofs.BYTES], null);
    private static final int TIMEOUT_MS = 20_000;

    @RegisterExtension
    final HeardWarnings heard = new HeardWarnings();

    private final BlockingQueue<String> warnings = heard.warnings;

    // ---- a server that a test plays

    /** What a server does with a connection whose knock it has read. */
    private interface Play {
        void with(Socket socket) throws Exception;
    }

    /** A server whose connections all go the same way; it counts them. */
    private static final class Server implements AutoCloseable {
        private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        final AtomicInteger accepted = new AtomicInteger();
        final List<Long> acceptedNs = Collections.synchronizedList(new ArrayList<>());

        /** Whether the client of a connection has hung up by itself. */
        final CompletableFuture<Boolean> hungUp = new CompletableFuture<>();

        Server(boolean accepts, Play play) throws IOException {
            Thread.ofVirtual().start(() -> {
                while (!listening.isClosed()) {
                    try (Socket socket = listening.accept()) {
                        acceptedNs.add(System.nanoTime());
                        accepted.incrementAndGet();
                        socket.setSoTimeout(TIMEOUT_MS);
                        socket.getOutputStream().write(new Preauthentication(KEY).opening());
                        socket.getInputStream().readNBytes(Preauthentication.BYTES);
                        if (accepts) {
                            socket.getOutputStream().write(Preauthentication.ACCEPTED);
                        }
                        play.with(socket);
                        if (accepts) {
                            hungUp.complete(hasHungUp(socket));
                        }
                    } catch (Exception _) {
                        // the test is over, or the client has hung up
                    }
                }
            });
        }

        private static boolean hasHungUp(Socket socket) {
            try {
                socket.getInputStream().readAllBytes();
                return true;
            } catch (SocketTimeoutException _) {
                return false;
            } catch (IOException _) {
                return true; // reset
            }
        }

        SealedConnection connect(int timeoutMs) throws IOException {
            return Handshake.connect("127.0.0.1", listening.getLocalPort(), KEY, timeoutMs);
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }

    private static SSLSocket secured(Socket socket, boolean isClient) throws IOException {
        SSLSocket tls =
                (SSLSocket) KEY.tls().getSocketFactory().createSocket(socket, "127.0.0.1", socket.getPort(), false);
        tls.setUseClientMode(isClient);
        tls.setNeedClientAuth(true);
        tls.startHandshake();
        return tls;
    }

    // ---- the client's part

    /** Clients that were turned away come again, less and less often, as long as another attempt has time. */
    @Test
    @Tag("measures")
    void shouldComeAgainWithPausesThatGrowToAServerThatHangsUp() throws Exception {
        int timeoutMs = 1_000;
        try (Server server = new Server(false, _ -> {})) {
            long beganNs = System.nanoTime();
            IOException e = assertThrows(IOException.class, () -> server.connect(timeoutMs));
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
            int attempts = server.accepted.get();
            for (int i = 1; i < attempts; i++) {
                long afterMs = TimeUnit.NANOSECONDS.toMillis(server.acceptedNs.get(i) - server.acceptedNs.get(i - 1));
                long pauseMs = Math.min(250, 10L << (i - 1));
                assertTrue(afterMs >= pauseMs * 3 / 4, "attempt " + i + " came after " + afterMs + " ms");
            }
            assertTrue(attempts >= 3 && attempts <= 9, attempts + " attempts"); // the pauses: 10, 20, 40 ms and so on
            String text = String.valueOf(e.getMessage());
            assertTrue(text.startsWith("it has closed the connection " + attempts + " times before"), text);
            assertTrue(text.endsWith(Deadline.text(timeoutMs)), text);
            assertInstanceOf(Preauthentication.RejectedException.class, e.getCause());
            assertTrue(
                    tookMs >= timeoutMs / 2, "given up after " + tookMs + " ms"); // the longest pause is half a second
        }
    }

    /** A server that was short of places for a moment is not left waiting. */
    @Test
    @Tag("measures")
    void shouldComeAgainSoonAtFirst() throws Exception {
        long leastMs = Long.MAX_VALUE;
        for (int i = 0; i < 100 && leastMs >= 35; i++) { // a busy machine may delay some
            try (Server server = new Server(false, _ -> {})) {
                assertThrows(IOException.class, () -> server.connect(150));
                if (server.accepted.get() > 1) {
                    long afterNs = server.acceptedNs.get(1) - server.acceptedNs.get(0);
                    leastMs = Math.min(leastMs, TimeUnit.NANOSECONDS.toMillis(afterNs));
                }
            }
        }
        assertTrue(leastMs < 35, leastMs + " ms"); // the first pause is at most 20 ms
    }

    @Test
    void shouldEndItsAttemptsWhenItIsInterrupted() throws Exception {
        try (Server server = new Server(false, _ -> {})) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedIOException.class, () -> server.connect(TIMEOUT_MS));
            assertTrue(Thread.interrupted());
            assertEquals(1, server.accepted.get());
        }
    }

    @Test
    void shouldGiveUpAServerThatDoesNotGoOnOnceTheTimeIsOver() throws Exception {
        int timeoutMs = 400;
        try (Server server = new Server(true, _ -> {})) {
            long beganNs = System.nanoTime();
            SocketTimeoutException e = assertThrows(SocketTimeoutException.class, () -> server.connect(timeoutMs));
            assertEquals(Deadline.text(timeoutMs), e.getMessage());
            assertTrue(System.nanoTime() - beganNs >= timeoutMs * 1_000_000L);
            assertTrue(server.hungUp.get(20, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldCountPartOfAMillisecondOfWhatIsLeftAsAWholeOne() {
        long nowNs = System.nanoTime();
        assertEquals(400, Deadline.leftMs(nowNs + 399_000_001, nowNs));
        assertEquals(400, Deadline.leftMs(nowNs + 400_000_000, nowNs));
        assertEquals(1, Deadline.leftMs(nowNs + 1, nowNs));
        assertEquals(1, Deadline.leftMs(nowNs - 5_000_000, nowNs));
    }

    /** A byte now and then is no progress. */
    @Test
    void shouldGiveUpAServerThatTricklesOnceTheTimeIsOver() throws Exception {
        int timeoutMs = 600;
        try (Server server = new Server(true, socket -> {
            byte[] record = {22, 3, 3, 64, 0}; // of 16 KiB
            socket.getOutputStream().write(record);
            while (true) {
                Thread.sleep(50);
                socket.getOutputStream().write(0);
            }
        })) {
            SocketTimeoutException e = assertThrows(SocketTimeoutException.class, () -> server.connect(timeoutMs));
            assertEquals(Deadline.text(timeoutMs), e.getMessage());
        }
    }

    /** The server may not accept the certificate, which it alone can say: another attempt would not help. */
    @Test
    void shouldSayWhatToLookForWhenAServerEndsTheConnectionWithinTls() throws Exception {
        try (Server before = new Server(true, Socket::shutdownOutput);
                Server within = new Server(true, socket -> {
                    SSLSocket tls = secured(socket, false);
                    tls.getInputStream().readNBytes(Proofs.BYTES);
                    tls.shutdownOutput();
                });
                Server cut = new Server(true, socket -> {
                    SSLSocket tls = secured(socket, false);
                    tls.getInputStream().readNBytes(Proofs.BYTES);
                    socket.setSoLinger(true, 0);
                    socket.close();
                })) {
            for (Server server : new Server[] {before, within, cut}) {
                IOException e = assertThrows(IOException.class, () -> server.connect(TIMEOUT_MS));
                assertFalse(e instanceof HandshakeException, e::toString);
                String text = String.valueOf(e.getMessage());
                assertTrue(text.startsWith("the connection has ended during the TLS 1.3 handshake: "), text);
                assertFalse(text.contains("null"), text);
                assertTrue(text.contains("ContextOptions.withTls"), text);
                assertEquals(1, server.accepted.get());
            }
        }
    }

    @Test
    void shouldSayThatTlsFailedWhenAServerTalksRubbish() throws Exception {
        try (Server server = new Server(true, socket -> {
            socket.getOutputStream().write(new byte[100]);
            socket.shutdownOutput();
        })) {
            HandshakeException e = assertThrows(HandshakeException.class, () -> server.connect(TIMEOUT_MS));
            String text = String.valueOf(e.getMessage());
            assertTrue(text.startsWith("the TLS 1.3 handshake failed: "), text);
            assertTrue(text.contains("ContextOptions.withTls"), text);
            assertEquals(1, server.accepted.get());
        }
    }

    @Test
    void shouldHangUpOnAServerThatProvesNothing() throws Exception {
        try (Server server = new Server(true, socket -> {
            SSLSocket tls = secured(socket, false);
            tls.getInputStream().readNBytes(Proofs.BYTES);
            tls.getOutputStream().write(new byte[1 + Proofs.BYTES]);
        })) {
            assertThrows(HandshakeException.class, () -> server.connect(TIMEOUT_MS));
            assertTrue(server.hungUp.get(20, TimeUnit.SECONDS));
        }
    }

    // ---- the server's part

    private Listener listener() throws IOException {
        return new Listener(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), KEY, TIMEOUT_MS, SealedConnection::close);
    }

    /** Has a guest that has knocked go this way; returns what the listener warns of it. */
    private String warningOf(Play play) throws Exception {
        warnings.clear();
        try (Listener listener = listener();
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            socket.setSoTimeout(TIMEOUT_MS);
            Preauthentication.knock(socket, KEY);
            play.with(socket);
            String warning = String.valueOf(warnings.poll(20, TimeUnit.SECONDS));
            assertTrue(
                    warning.contains("the connection from " + socket.getLocalSocketAddress() + " is refused: "),
                    warning);
            try {
                socket.getInputStream().readAllBytes(); // it has hung up, or this fails
            } catch (SocketTimeoutException e) {
                throw new AssertionError("it has not hung up", e);
            } catch (IOException _) {
                // reset
            }
            return warning;
        }
    }

    @Test
    void shouldNotBlameTheCertificatesForAGuestThatHasGone() throws Exception {
        assertFalse(warningOf(Socket::shutdownOutput).contains("certificates"));
    }

    /** Unread input would have the system reset the connection, and the alert with it. */
    @Test
    void shouldSayThatTlsFailedWhenAGuestTalksRubbishAndHaveItReadTheAlert() throws Exception {
        byte[][] alert = new byte[1][];
        String warning = warningOf(socket -> {
            socket.getOutputStream().write(new byte[100_000]);
            Thread.sleep(300); // it looks late
            alert[0] = socket.getInputStream().readNBytes(7);
            socket.shutdownOutput();
        });
        assertTrue(warning.contains("the TLS 1.3 handshake failed: "), warning);
        assertTrue(warning.contains("ContextOptions.withTls"), warning);
        assertEquals(7, alert[0].length);
        assertEquals(21, alert[0][0], "the kind of a record that is an alert");
    }

    /** It has a moment to read the alert, not the whole time of a handshake: others wait for its place. */
    @Test
    void shouldNotWaitLongForARefusedGuestThatDoesNotGo() throws Exception {
        long beganNs = System.nanoTime();
        String warning = warningOf(socket -> socket.getOutputStream().write(new byte[1_000]));
        assertTrue(warning.contains("the TLS 1.3 handshake failed: "), warning);
        assertTrue(System.nanoTime() - beganNs < TIMEOUT_MS / 2 * 1_000_000L);
    }

    /** A guest that reads to the end needs no such moment. */
    @Test
    @Tag("measures")
    void shouldEndTheStreamWithTheAlert() throws Exception {
        AtomicLong leastNs = new AtomicLong(Long.MAX_VALUE);
        for (int i = 0; i < 10 && leastNs.get() >= 800_000_000; i++) { // a busy machine may delay some
            String _ = warningOf(socket -> {
                long beganNs = System.nanoTime();
                socket.getOutputStream().write(new byte[1_000]);
                assertEquals(7, socket.getInputStream().readAllBytes().length);
                leastNs.accumulateAndGet(System.nanoTime() - beganNs, Math::min);
                socket.shutdownOutput();
            });
        }
        assertTrue(leastNs.get() < 800_000_000, leastNs + " ns");
    }

    @Test
    void shouldRefuseAGuestThatProvesTooLittleOrNothing() throws Exception {
        String warning = warningOf(socket -> {
            SSLSocket tls = secured(socket, true);
            byte[] proof = KEY.proof("client", Handshake.binding(tls, true));
            tls.getOutputStream().write(Arrays.copyOf(proof, Proofs.BYTES - 1));
            tls.shutdownOutput();
        });
        assertTrue(warning.contains("java.io.EOFException"), warning);
        warning = warningOf(socket -> secured(socket, true).getOutputStream().write(new byte[Proofs.BYTES]));
        assertTrue(warning.contains("it does not know the secret"), warning);
    }
}
