package io.madeleine.admission;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What peers that do not prove themselves get, and what they leave to the others. */
@Timeout(30)
class AcceptorLimitsTest {
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int LONG_MS = 60_000;
    private static final byte[] FAREWELL = {'n', 'o'};

    private final List<Socket> clients = new ArrayList<>();
    private final LinkedBlockingQueue<String> refused = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<UnauthenticatedConnection<TwoBytes>> proven = new LinkedBlockingQueue<>();
    private final AtomicReference<@Nullable Throwable> nextFailure = new AtomicReference<>();
    private final Semaphore heard = new Semaphore(0);

    @AfterEach
    void close() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        proven.forEach(UnauthenticatedConnection::close);
    }

    /** Two bytes, both 1, prove a client. */
    private final class TwoBytes implements ServerHandshake {
        private final ByteBuffer received = ByteBuffer.allocate(2);

        @Override
        public byte[] opening() {
            return new byte[] {7};
        }

        @Override
        public ByteBuffer received() {
            return received;
        }

        @Override
        public boolean isProven() throws HandshakeException {
            heard.release();
            for (int i = 0; i < received.position(); i++) {
                if (received.get(i) != 1) {
                    throw new HandshakeException("it said " + received.get(i), FAREWELL);
                }
            }
            return !received.hasRemaining();
        }
    }

    private final Acceptor.Host<TwoBytes> host = new Acceptor.Host<>() {
        @Override
        public TwoBytes newHandshake() {
            if (nextFailure.get() instanceof Error e) {
                nextFailure.set(null);
                throw e;
            }
            return new TwoBytes();
        }

        @Override
        public void proven(UnauthenticatedConnection<TwoBytes> connection) throws IOException {
            if (nextFailure.get() instanceof IOException e) {
                nextFailure.set(null);
                throw e;
            }
            if (nextFailure.get() instanceof RuntimeException e) {
                nextFailure.set(null);
                throw e;
            }
            proven.add(connection);
        }

        @Override
        public void refused(String why) {
            refused.add(why);
        }
    };

    private Acceptor<TwoBytes> acceptor(int timeoutMs, int maxCount) throws IOException {
        return new Acceptor<>(
                ANY,
                new Acceptor.Settings("acceptor-limits-test", timeoutMs, "it was too late", maxCount),
                new NoticeLimit(System.getLogger("io.madeleine.admission.test"), ""),
                host);
    }

    private Socket dial(Acceptor<TwoBytes> acceptor) throws IOException {
        Socket client =
                new Socket(InetAddress.getLoopbackAddress(), acceptor.address().getPort());
        client.setSoTimeout(20_000);
        clients.add(client);
        return client;
    }

    private Socket connect(Acceptor<TwoBytes> acceptor) throws IOException {
        Socket client = dial(acceptor);
        assertEquals(7, client.getInputStream().read(), "it is greeted");
        return client;
    }

    private static int left(Socket client) throws IOException {
        return client.getInputStream().read();
    }

    private void prove(Socket client) throws IOException, InterruptedException {
        client.getOutputStream().write(1);
        heard.acquire();
        client.getOutputStream().write(1);
        UnauthenticatedConnection<TwoBytes> in = proven.poll(20, TimeUnit.SECONDS);
        assertNotNull(in);
        assertTrue(in.channel().isBlocking());
        assertEquals(client.getLocalSocketAddress().toString(), in.remote());
        assertTrue(in.channel().getOption(StandardSocketOptions.TCP_NODELAY));
        in.channel().write(ByteBuffer.wrap(new byte[] {3}));
        assertEquals(3, client.getInputStream().read());
        in.close();
        assertEquals(-1, left(client));
    }

    /** Unread input would have the system reset the connection, and the answer with it. */
    @Test
    void shouldAnswerARefusedPeerThatGoesOnTalkingAndTellTheHost() throws Exception {
        try (Acceptor<TwoBytes> acceptor = acceptor(LONG_MS, 16)) {
            Socket client = connect(acceptor);
            byte[] said = new byte[2_000];
            said[0] = 5;
            client.getOutputStream().write(said);
            assertArrayEquals(FAREWELL, client.getInputStream().readAllBytes());
            assertEquals(
                    "the connection from " + client.getLocalSocketAddress() + " was refused: it said 5",
                    refused.poll(20, TimeUnit.SECONDS));
            prove(connect(acceptor));
        }
    }

    @Test
    @Tag("measures")
    void shouldDropAPeerThatIsLateAndNoPeerBefore() throws Exception {
        int timeoutMs = 2_000; // each of those before comes in time, also if a thread is held up
        try (Acceptor<TwoBytes> acceptor = acceptor(timeoutMs, 16)) {
            prove(connect(acceptor));
            long beganNs = System.nanoTime();
            Socket silent = dial(acceptor);
            assertEquals(7, silent.getInputStream().read());
            assertEquals(-1, left(silent));
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
            assertTrue(tookMs >= timeoutMs, "dropped after " + tookMs + " ms");
            prove(connect(acceptor));
        }
    }

    @Test
    void shouldTakeThePlaceOfThePeerThatHasBeenSilentForLongest() throws Exception {
        try (Acceptor<TwoBytes> acceptor = acceptor(LONG_MS, 2)) {
            Socket talks = connect(acceptor);
            Socket silent = connect(acceptor);
            talks.getOutputStream().write(1);
            heard.acquire();
            Socket third = connect(acceptor);
            assertEquals(-1, left(silent));
            talks.getOutputStream().write(1);
            assertNotNull(proven.poll(20, TimeUnit.SECONDS), "it has kept its place");
            prove(third);
            assertTrue(refused.isEmpty(), "those that were turned away have failed no proof");
        }
    }

    @Test
    void shouldHangUpOnAPeerThatSaysNothingMore() throws Exception {
        try (Acceptor<TwoBytes> acceptor = acceptor(LONG_MS, 16)) {
            for (byte[] said : new byte[][] {{}, {1}}) {
                Socket ended = connect(acceptor);
                ended.getOutputStream().write(said);
                ended.shutdownOutput();
                assertEquals(-1, left(ended));
            }
            heard.drainPermits();
            prove(connect(acceptor));
        }
    }

    /** One round admits a few of them only. */
    @Test
    void shouldAdmitAllOfACrowdThatFits() throws Exception {
        try (Acceptor<TwoBytes> acceptor = acceptor(LONG_MS, 9)) {
            List<Socket> crowd = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                crowd.add(dial(acceptor));
            }
            for (Socket each : crowd) {
                assertEquals(7, each.getInputStream().read());
            }
            for (Socket each : crowd) {
                prove(each);
            }
        }
    }

    @Test
    void shouldHangUpIfItCannotServeAPeerAndServeTheNext() throws Exception {
        try (Acceptor<TwoBytes> acceptor = acceptor(LONG_MS, 32)) {
            nextFailure.set(new OutOfMemoryError("making its handshake"));
            assertEquals(-1, left(dial(acceptor)));
            prove(connect(acceptor));
            for (Exception failure :
                    List.of(new IOException("it has gone already"), new IllegalStateException("no thread"))) {
                Socket lost = connect(acceptor);
                nextFailure.set(failure);
                lost.getOutputStream().write(new byte[] {1, 1});
                assertEquals(-1, left(lost));
            }
            heard.drainPermits();
            prove(connect(acceptor));
        }
    }

    @Test
    void shouldCloseAtItsEndWhatItHasNotHandedOver() throws Exception {
        Acceptor<TwoBytes> acceptor = acceptor(LONG_MS, 16);
        Socket handedOver = connect(acceptor);
        handedOver.getOutputStream().write(new byte[] {1, 1});
        UnauthenticatedConnection<TwoBytes> taken = proven.poll(20, TimeUnit.SECONDS);
        assertNotNull(taken);
        Socket silent = connect(acceptor);
        acceptor.close();
        acceptor.close();
        assertEquals(-1, left(silent));
        assertThrows(ConnectException.class, () -> dial(acceptor));
        assertTrue(taken.channel().isOpen());
        taken.close();
        assertEquals(-1, left(handedOver));
        assertFalse(Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("acceptor-limits-test")));
    }
}
