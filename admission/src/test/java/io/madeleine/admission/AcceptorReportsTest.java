package io.madeleine.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What an acceptor says of those that it turns away, how it fails, and how it ends. */
@Timeout(30)
class AcceptorReportsTest {
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final int LONG_MS = 60_000;
    private static final int COUNT = 16;

    private final List<Socket> clients = new ArrayList<>();
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final BlockingQueue<UnauthenticatedConnection<Greeting>> proven = new LinkedBlockingQueue<>();

    /** What the next client is greeted with. */
    private volatile byte @Nullable [] opening = {7};

    private final System.Logger logger = new LinesLogger(lines);

    @AfterEach
    void closeClients() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        proven.forEach(UnauthenticatedConnection::close);
    }

    /** One byte proves a client, unless it is 0. */
    private final class Greeting implements ServerHandshake {
        private final ByteBuffer received = ByteBuffer.allocate(1);

        @Override
        public byte[] opening() {
            byte[] now = opening;
            if (now == null) {
                throw new IllegalStateException("no greeting");
            }
            return now;
        }

        @Override
        public ByteBuffer received() {
            return received;
        }

        @Override
        public boolean isProven() throws HandshakeException {
            if (received.get(0) == 0) {
                throw new HandshakeException("it said 0");
            }
            return true;
        }
    }

    private class Host implements Acceptor.Host<Greeting> {
        @Override
        public Greeting newHandshake() {
            return new Greeting();
        }

        @Override
        public void proven(UnauthenticatedConnection<Greeting> connection) {
            proven.add(connection);
        }
    }

    private Acceptor<Greeting> acceptor(int timeoutMs, Host host) throws IOException {
        return acceptor(ANY, timeoutMs, host);
    }

    private Acceptor<Greeting> acceptor(InetSocketAddress address, int timeoutMs, Host host) throws IOException {
        return new Acceptor<>(
                address,
                new Acceptor.Settings("acceptor-reports-test", timeoutMs, "it was too late", COUNT),
                new NoticeLimit(logger, "test: "),
                host);
    }

    private Socket dial(Acceptor<Greeting> acceptor) throws IOException {
        Socket client =
                new Socket(InetAddress.getLoopbackAddress(), acceptor.address().getPort());
        client.setSoTimeout(20_000);
        clients.add(client);
        return client;
    }

    /** Whether it lets in who proves itself. */
    private void assertServes(Acceptor<Greeting> acceptor) throws Exception {
        Socket client = dial(acceptor);
        assertEquals(7, client.getInputStream().read());
        client.getOutputStream().write(1);
        assertNotNull(proven.poll(20, TimeUnit.SECONDS));
    }

    private void assertTold(String expected) throws InterruptedException {
        String line = lines.poll(20, TimeUnit.SECONDS);
        assertTrue(line != null && line.startsWith("WARNING test: " + expected), () -> line + ", not " + expected);
    }

    // ---- those that it turns away

    @Test
    void shouldWarnOfAPeerThatWasTooLateThatDoesNotProveItselfOrThatGivesItsPlaceToOthers() throws Exception {
        try (Acceptor<Greeting> acceptor = acceptor(500, new Host())) {
            Socket late = dial(acceptor);
            assertTold("the connection from " + late.getLocalSocketAddress() + " was refused: it was too late (1 so");
        }
        try (Acceptor<Greeting> acceptor = acceptor(LONG_MS, new Host())) {
            Socket wrong = dial(acceptor);
            wrong.getOutputStream().write(0);
            assertTold("the connection from " + wrong.getLocalSocketAddress() + " was refused: it said 0");
            assertEquals(7, wrong.getInputStream().read());
            assertEquals(-1, wrong.getInputStream().read());
        }
        try (Acceptor<Greeting> acceptor = acceptor(LONG_MS, new Host())) {
            Socket first = dial(acceptor);
            for (int i = 0; i < COUNT; i++) {
                assertEquals(7, dial(acceptor).getInputStream().read());
            }
            assertTold("the connection from " + first.getLocalSocketAddress() + " was refused: more than " + COUNT
                    + " connections have not proved that they know the secret");
        }
    }

    /** More than the system takes at once from a server that must not wait, or none as the host fails. */
    @Test
    void shouldHangUpOnAPeerThatItCannotGreetAndServeTheNext() throws Exception {
        try (Acceptor<Greeting> acceptor = acceptor(LONG_MS, new Host())) {
            opening = new byte[32_000_000];
            Socket flooded = dial(acceptor);
            assertTrue(flooded.getInputStream().readAllBytes().length < 32_000_000);
            opening = null;
            assertEquals(-1, dial(acceptor).getInputStream().read());
            opening = new byte[] {7};
            assertServes(acceptor);
            assertTold("accepting connections failed; the acceptor goes on: "
                    + "java.lang.IllegalStateException: no greeting (1 so far)");
        }
    }

    /** The peer may be another program, which says something and does not read. */
    @Test
    void shouldGoOnWhenAPeerResetsItsConnection() throws Exception {
        try (Acceptor<Greeting> acceptor = acceptor(LONG_MS, new Host())) {
            for (int i = 0; i < 20; i++) {
                Socket gone = dial(acceptor);
                gone.setSoLinger(true, 0);
                gone.close();
            }
            assertServes(acceptor);
            assertTrue(lines.isEmpty(), lines::toString);
        }
    }

    // ---- how it fails

    /** Runs it often; a few descriptors may be others'. */
    private static void assertLeavesNothingOpen(Executable action) throws Throwable {
        Assumptions.assumeTrue(
                ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean, "it counts files");
        UnixOperatingSystemMXBean system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        int times = 100;
        long before = system.getOpenFileDescriptorCount();
        for (int i = 0; i < times; i++) {
            action.execute();
        }
        long more = system.getOpenFileDescriptorCount() - before;
        assertTrue(more < times / 2, more + " descriptors more");
    }

    @Test
    void shouldLeaveNothingOpenIfItCannotListen() throws Throwable {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            InetSocketAddress taken = new InetSocketAddress(other.getInetAddress(), other.getLocalPort());
            assertLeavesNothingOpen(
                    () -> assertThrows(BindException.class, () -> acceptor(taken, LONG_MS, new Host())));
        }
    }

    /** A thread without a name cannot be made either. */
    @Test
    void shouldLeaveNothingOpenIfItGetsNoThread() throws Throwable {
        Acceptor.Settings nameless = new Acceptor.Settings(null, LONG_MS, "", COUNT);
        NoticeLimit notices = new NoticeLimit(logger, "");
        assertLeavesNothingOpen(() ->
                assertThrows(NullPointerException.class, () -> new Acceptor<>(ANY, nameless, notices, new Host())));
    }

    // ---- how it ends

    @Test
    void shouldLeaveNothingOpenAtItsEnd() throws Throwable {
        assertLeavesNothingOpen(() -> acceptor(LONG_MS, new Host()).close());
    }

    /** A session that ends for such a reason closes it from there. */
    @Test
    void shouldEndThoughTheHostClosesItInTheMiddleOfItsWork() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        List<Acceptor<Greeting>> self = new ArrayList<>();
        self.add(acceptor(LONG_MS, new Host() {
            @Override
            public void proven(UnauthenticatedConnection<Greeting> connection) {
                long beganNs = System.nanoTime();
                self.getFirst().close();
                if (System.nanoTime() - beganNs < 900_000_000) { // it does not wait for itself
                    closed.countDown();
                }
                throw new IllegalStateException("as it ends");
            }
        }));
        Socket silent = dial(self.getFirst());
        Socket last = dial(self.getFirst());
        last.getOutputStream().write(1);
        assertTrue(closed.await(20, TimeUnit.SECONDS));
        for (Socket each : List.of(silent, last)) {
            assertEquals(7, each.getInputStream().read());
            assertEquals(-1, each.getInputStream().read());
        }
        assertTrue(lines.isEmpty(), "what fails as it ends is no news: " + lines);
    }

    @Test
    void shouldKeepTheInterruptOfAThreadThatClosesIt() throws Exception {
        Acceptor<Greeting> acceptor = acceptor(LONG_MS, new Host());
        Thread.currentThread().interrupt();
        acceptor.close();
        assertTrue(Thread.interrupted());
        acceptor.close();
        assertFalse(Thread.interrupted());
    }
}
