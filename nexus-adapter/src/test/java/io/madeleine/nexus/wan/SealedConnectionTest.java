package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sealed connections over loopback sockets, with strangers and meddlers. */
@Timeout(30)
class SealedConnectionTest {
    private static final Credentials KEY = key(1);
    private static final int TIMEOUT_MS = 5_000;

    /** What every greeting begins with, "NXW1", before the version. */
    private static final int MAGIC = 0x4E585731;

    private final BlockingQueue<SealedConnection> guests = new ArrayBlockingQueue<>(16);

    private static Credentials key(int seed) {
        return key(seed, null);
    }

    private static Credentials key(int seed, @Nullable SSLContext tls) {
        byte[] key = new byte[32];
        new Random(seed).nextBytes(key);
        return new Credentials(key, tls);
    }

    private Listener listener(int timeoutMs) throws IOException {
        return new Listener(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), KEY, timeoutMs, guests::add);
    }

    private static SealedConnection connect(int port, Credentials key) throws IOException {
        return Handshake.connect("127.0.0.1", port, key, TIMEOUT_MS);
    }

    /** Below that the window may become smaller than a segment, and nothing is sent while the other way is busy. */
    @Test
    void shouldReceiveAtLeastTwoSegmentsOfTheLoopbackWithinAHost() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
                SSLSocket tls = (SSLSocket) KEY.tls().getSocketFactory().createSocket(socket, "127.0.0.1", 1, false);
                SealedConnection _ = new SealedConnection(socket, tls, new byte[0])) {
            int bytes = socket.getReceiveBufferSize();
            assertTrue(bytes >= 300 * 1024, bytes + " bytes");
        }
    }

    @Test
    void shouldBringWhatIsWrittenBothWays() throws Exception {
        try (Listener listener = listener(TIMEOUT_MS);
                SealedConnection client = connect(listener.port(), KEY);
                SealedConnection server = guests.poll(5, TimeUnit.SECONDS)) {
            byte[] sent = new byte[300_000];
            new Random(2).nextBytes(sent);
            for (List<SealedConnection> pair : List.of(List.of(client, server), List.of(server, client))) {
                Thread writer = Thread.startVirtualThread(() -> write(pair.get(0), sent));
                byte[] got = new byte[sent.length];
                pair.get(1).readFully(got, 0, 7);
                pair.get(1).readFully(got, 7, got.length - 7);
                assertArrayEquals(sent, got);
                writer.join();
            }
            client.writeUnit(new byte[100]);
            assertThrows(IOException.class, () -> server.readUnit(99));
        }
    }

    private static void write(SealedConnection to, byte[] bytes) {
        try {
            to.write(bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void shouldNotLetInWhoHasAnotherSecret() throws Exception {
        try (Listener listener = listener(TIMEOUT_MS)) {
            HandshakeException e = assertThrows(HandshakeException.class, () -> connect(listener.port(), key(3)));
            assertTrue(String.valueOf(e.getMessage()).contains("madeleine.session.secret"), e::toString);
            assertEquals(0, guests.size());
            connect(listener.port(), KEY).close();
        }
    }

    @Test
    void shouldNotTrustAServerThatDoesNotKnowTheSecret() throws Exception {
        try (Listener liar = new Listener(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), key(4), TIMEOUT_MS, guests::add)) {
            assertThrows(HandshakeException.class, () -> connect(liar.port(), KEY));
        }
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.startVirtualThread(() -> {
                try (Socket socket = other.accept()) {
                    socket.getOutputStream()
                            .write("HTTP/1.1 400 Bad Request\r\n\r\n".repeat(8).getBytes());
                    socket.getInputStream().readAllBytes();
                } catch (IOException _) {
                    // the client has hung up
                }
            });
            HandshakeException e = assertThrows(HandshakeException.class, () -> connect(other.getLocalPort(), KEY));
            assertTrue(String.valueOf(e.getMessage()).contains("no context"), e::toString);
        }
    }

    @Test
    void shouldSayAtBothEndsThatTheOtherSpeaksAnotherVersion() throws Exception {
        int other = Preauthentication.VERSION - 1; // requests had other bytes
        byte[] greeting = new byte[Preauthentication.GREETING_BYTES];
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            FutureTask<byte[]> told = new FutureTask<>(() -> {
                try (Socket socket = server.accept()) {
                    ByteBuffer.wrap(greeting).putInt(MAGIC).putInt(other);
                    socket.getOutputStream().write(greeting);
                    return socket.getInputStream().readNBytes(2 * Integer.BYTES);
                }
            });
            Thread.startVirtualThread(told);
            assertSaysVersions(
                    other, assertThrows(HandshakeException.class, () -> connect(server.getLocalPort(), KEY)));
            ByteBuffer own = ByteBuffer.wrap(told.get(5, TimeUnit.SECONDS));
            assertEquals(MAGIC, own.getInt());
            assertEquals(Preauthentication.VERSION, own.getInt());
        }
        Preauthentication knock = new Preauthentication(KEY);
        knock.received().putInt(MAGIC).putInt(other);
        assertSaysVersions(other, assertThrows(HandshakeException.class, knock::isProven));
        assertEquals(0, guests.size());
    }

    private static void assertSaysVersions(int found, HandshakeException e) {
        String text = String.valueOf(e.getMessage());
        assertTrue(text.contains("version " + found) && text.contains("expected " + Preauthentication.VERSION), text);
        assertTrue(text.contains("same release"), text);
    }

    /** It takes anybody, and proves nothing. */
    @Test
    void shouldNotTrustAServerThatAcceptsWithoutAProof() throws Exception {
        byte[] verdict = new byte[1 + Proofs.BYTES];
        verdict[0] = 1;
        try (ServerSocket liar = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.startVirtualThread(() -> {
                try (Socket socket = liar.accept()) {
                    letKnock(socket);
                    SSLSocket tls = secured(socket, key(5), false);
                    tls.getInputStream().readNBytes(Proofs.BYTES);
                    tls.getOutputStream().write(verdict);
                    tls.getInputStream().readAllBytes();
                } catch (IOException _) {
                    // the client has hung up
                }
            });
            HandshakeException e = assertThrows(HandshakeException.class, () -> connect(liar.getLocalPort(), KEY));
            assertTrue(String.valueOf(e.getMessage()).contains("secret"), e::toString);
        }
    }

    /** Lets anybody knock, and judges nothing. */
    private static void letKnock(Socket client) throws IOException {
        client.getOutputStream().write(new Preauthentication(KEY).opening());
        client.getInputStream().readNBytes(Preauthentication.BYTES);
        client.getOutputStream().write(Preauthentication.ACCEPTED);
    }

    /** One end of TLS, as somebody does it who does not know the secret. */
    private static SSLSocket secured(Socket socket, Credentials own, boolean isClient) throws IOException {
        SSLSocket tls =
                (SSLSocket) own.tls().getSocketFactory().createSocket(socket, "127.0.0.1", socket.getPort(), true);
        tls.setUseClientMode(isClient);
        tls.setNeedClientAuth(true);
        tls.startHandshake();
        assertEquals("TLSv1.3", tls.getSession().getProtocol());
        return tls;
    }

    /** It passes on the knock, and what both say inside of two TLS sessions of its own, their proofs too. */
    @Test
    void shouldNotTrustWhoStandsBetweenAndPassesProofsOn() throws Exception {
        try (Listener listener = listener(TIMEOUT_MS);
                ServerSocket between = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            FutureTask<byte[]> verdict = new FutureTask<>(() -> {
                try (Socket client = between.accept();
                        Socket server = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
                    client.getOutputStream().write(server.getInputStream().readNBytes(Preauthentication.BYTES));
                    server.getOutputStream().write(client.getInputStream().readNBytes(Preauthentication.BYTES));
                    client.getOutputStream().write(server.getInputStream().readNBytes(1));
                    SSLSocket toClient = secured(client, key(6), false);
                    SSLSocket toServer = secured(server, key(6), true);
                    toServer.getOutputStream().write(toClient.getInputStream().readNBytes(Proofs.BYTES));
                    byte[] said = toServer.getInputStream().readNBytes(1 + Proofs.BYTES);
                    toClient.getOutputStream().write(said);
                    return said;
                }
            });
            Thread.startVirtualThread(verdict);
            HandshakeException e = assertThrows(HandshakeException.class, () -> connect(between.getLocalPort(), KEY));
            assertTrue(String.valueOf(e.getMessage()).contains("secret"), e::toString);
            assertEquals(2, verdict.get(5, TimeUnit.SECONDS)[0]); // the server has refused it as well
            assertEquals(0, guests.size());
        }
    }

    @Test
    void shouldTellWhoSpeaksPlainTextWhatIsExpected() throws Exception {
        try (Listener listener = listener(TIMEOUT_MS);
                Socket plain = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            plain.getOutputStream().write("GET / HTTP/1.1\r\n".getBytes());
            plain.getInputStream().readNBytes(Preauthentication.GREETING_BYTES);
            String told = new String(plain.getInputStream().readAllBytes());
            assertTrue(told.contains("nexus protocol, over TLS 1.3"), told);
        }
        Preauthentication knock = new Preauthentication(KEY);
        knock.received().put("GET / HTTP/1.1\r\n".getBytes());
        HandshakeException e = assertThrows(HandshakeException.class, knock::isProven);
        assertTrue(String.valueOf(e.getMessage()).contains("begins with 0x47455420, expected 0x"), e::toString);
    }

    /** It trusts the certificates of nobody here. */
    @Test
    void shouldSayThatCertificatesAreNotTrusted() throws Exception {
        SSLContext picky = SSLContext.getInstance("TLSv1.3");
        picky.init(null, null, null);
        Credentials distrusting = key(1, picky);
        try (Listener listener = listener(TIMEOUT_MS)) {
            HandshakeException e = assertThrows(HandshakeException.class, () -> connect(listener.port(), distrusting));
            assertTrue(String.valueOf(e.getMessage()).contains("ContextOptions.withTls"), e::toString);
            connect(listener.port(), KEY).close();
        }
        try (Listener listener = new Listener(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), distrusting, TIMEOUT_MS, guests::add)) {
            HandshakeException e = assertThrows(HandshakeException.class, () -> connect(listener.port(), KEY));
            assertTrue(String.valueOf(e.getMessage()).contains("ContextOptions.withTls"), e::toString);
        }
    }

    /** What it sends is right as far as it goes. */
    @Test
    @Tag("measures")
    void shouldNotWaitForStrangersThatSendAByteNowAndThen() throws Exception {
        try (Listener listener = listener(600);
                Socket slow = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            long beganNs = System.nanoTime();
            slow.getInputStream().readNBytes(Preauthentication.GREETING_BYTES);
            slow.setSoTimeout(10);
            byte[] greeting = new byte[Preauthentication.GREETING_BYTES + 100];
            ByteBuffer.wrap(greeting).putInt(MAGIC).putInt(Preauthentication.VERSION);
            boolean open = true;
            for (int sent = 0; open && System.nanoTime() - beganNs < TimeUnit.SECONDS.toNanos(8); sent++) {
                try {
                    slow.getOutputStream().write(greeting[Math.min(sent, greeting.length - 1)]);
                    open = slow.getInputStream().read() >= 0;
                } catch (java.net.SocketTimeoutException _) {
                    // still there
                } catch (IOException _) {
                    open = false;
                }
                Thread.sleep(100);
            }
            assertFalse(open);
            assertTrue(System.nanoTime() - beganNs < TimeUnit.SECONDS.toNanos(4));
        }
    }

    @Test
    void shouldLetMembersInWhileManyStrangersSayNothing() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try (Listener listener = listener(20_000)) {
            for (int i = 0; i < 100; i++) {
                silent.add(new Socket(InetAddress.getLoopbackAddress(), listener.port()));
            }
            connect(listener.port(), KEY).close();
            assertNotNull(guests.poll(5, TimeUnit.SECONDS));
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void shouldNoticeEveryChangedRepeatedOrMissingRecord() throws Exception {
        for (Meddler.Kind kind : Meddler.Kind.values()) {
            try (Listener listener = listener(TIMEOUT_MS);
                    Meddler meddler = new Meddler(listener.port(), kind);
                    SealedConnection client = connect(meddler.port(), KEY);
                    SealedConnection server = guests.poll(5, TimeUnit.SECONDS)) {
                server.silenceTimeoutMs(TIMEOUT_MS);
                byte[] block = new byte[100];
                meddler.afterBytes.set(meddler.passed.get());
                client.write(block, 0, block.length);
                client.write(block, 0, block.length);
                client.write(block, 0, block.length);
                IOException e =
                        assertThrows(IOException.class, () -> server.readFully(new byte[300], 0, 300), kind.name());
                assertTrue(String.valueOf(e.getMessage()).contains("it was changed in transit"), () -> kind + ": " + e);
            }
        }
    }

    /** Passes on what the client sends, but for the first records after a while. */
    private static final class Meddler implements AutoCloseable {
        /** Of a record of TLS: type, version, length. */
        private static final int HEADER_BYTES = 5;

        enum Kind {
            CHANGE,
            REPEAT,
            OMIT,
            SWAP
        }

        final AtomicLong passed = new AtomicLong();
        final AtomicLong afterBytes = new AtomicLong(Long.MAX_VALUE);
        private final ServerSocket server;
        private final Kind kind;

        Meddler(int target, Kind kind) throws IOException {
            this.kind = kind;
            this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            Thread.startVirtualThread(() -> {
                try (Socket client = server.accept();
                        Socket real = new Socket(InetAddress.getLoopbackAddress(), target)) {
                    Thread.startVirtualThread(() -> pass(real, client));
                    meddle(client.getInputStream(), real.getOutputStream());
                } catch (IOException _) {
                    // over
                }
            });
        }

        int port() {
            return server.getLocalPort();
        }

        private static void pass(Socket from, Socket to) {
            try {
                from.getInputStream().transferTo(to.getOutputStream());
            } catch (IOException _) {
                // over
            }
        }

        private void meddle(InputStream in, OutputStream out) throws IOException {
            for (int next = in.read(); next >= 0; next = in.read()) {
                if (passed.get() < afterBytes.get()) {
                    out.write(next);
                    passed.incrementAndGet();
                    continue;
                }
                byte[] first = record(in, next);
                byte[] second = record(in, in.read());
                ByteArrayOutputStream meddled = new ByteArrayOutputStream();
                switch (kind) {
                    case CHANGE -> {
                        first[50] ^= 1;
                        meddled.write(first);
                        meddled.write(second);
                    }
                    case REPEAT -> {
                        meddled.write(first);
                        meddled.write(first);
                    }
                    case OMIT -> meddled.write(second);
                    case SWAP -> {
                        meddled.write(second);
                        meddled.write(first);
                    }
                }
                out.write(meddled.toByteArray());
                in.transferTo(out);
            }
        }

        private static byte[] record(InputStream in, int first) throws IOException {
            byte[] header = new byte[HEADER_BYTES];
            header[0] = (byte) first;
            in.readNBytes(header, 1, HEADER_BYTES - 1);
            int length = ByteBuffer.wrap(header).getShort(HEADER_BYTES - Short.BYTES);
            byte[] record = java.util.Arrays.copyOf(header, HEADER_BYTES + length);
            in.readNBytes(record, HEADER_BYTES, length);
            return record;
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
