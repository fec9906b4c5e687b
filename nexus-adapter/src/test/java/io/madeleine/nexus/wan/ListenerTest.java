package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Acceptor;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Strangers at the listener's port, and shortage around it. */
@Timeout(30)
class ListenerTest {
    private static final Credentials KEY = new Credentials(new byte[32], null);
    private static final int TIMEOUT_MS = 15_000;

    @RegisterExtension
    final HeardWarnings heard = new HeardWarnings();

    private final BlockingQueue<String> warnings = heard.warnings;
    private final BlockingQueue<SealedConnection> guests = new ArrayBlockingQueue<>(16);

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private void assertLetsGuestsIn(Listener listener) throws Exception {
        try (SealedConnection _ = Handshake.connect("127.0.0.1", listener.port(), KEY, TIMEOUT_MS);
                SealedConnection guest = guests.poll(20, TimeUnit.SECONDS)) {
            assertNotNull(guest);
        }
    }

    @Test
    void shouldWarnOnceASecondOfHoweverManyStrangers() throws Exception {
        long beginNs = System.nanoTime();
        try (Listener listener = new Listener(loopback(), KEY, TIMEOUT_MS, guests::add)) {
            for (int i = 0; i < 100; i++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
                    socket.getOutputStream()
                            .write("GET / HTTP/1.1\r\n\r\n".repeat(9).getBytes());
                }
            }
            assertLetsGuestsIn(listener);
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beginNs);
        assertTrue(!warnings.isEmpty() && warnings.size() <= seconds + 1, warnings::toString);
    }

    /** Who was turned away for want of a thread comes again by itself. */
    @Test
    void shouldGoOnAcceptingWhenNoThreadCanBeMade() throws Exception {
        AtomicInteger made = new AtomicInteger();
        ThreadFactory scarce = task -> {
            if (made.incrementAndGet() <= 3) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return Thread.ofVirtual().unstarted(task);
        };
        try (Listener listener =
                new Listener(loopback(), KEY, TIMEOUT_MS, guests::add, scarce, Acceptor.MAX_UNAUTHENTICATED)) {
            assertLetsGuestsIn(listener);
        }
        assertEquals(4, made.get());
        assertTrue(warnings.peek().contains("unable to create native thread"), warnings::toString);
    }

    @Test
    @Tag("measures")
    void shouldSayAtBothEndsThatTheConnectTimeoutWasReachedAndWhatChangesIt() throws Exception {
        try (Listener listener = new Listener(loopback(), KEY, 300, guests::add);
                Socket silent = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            assertTrue(silent.getInputStream().readAllBytes().length > 0, "it is greeted, and then hung up on");
            assertTellsOfTimeout(300, warnings.poll(20, TimeUnit.SECONDS));
        }
        int longMs = 2_000; // the knock comes before
        try (Listener listener = new Listener(loopback(), KEY, longMs, guests::add);
                Socket slow = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            Preauthentication.knock(slow, KEY); // TLS never begins
            assertEquals(-1, slow.getInputStream().read());
            assertTellsOfTimeout(longMs, warnings.poll(20, TimeUnit.SECONDS));
        }
        try (ServerSocket dumb = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketTimeoutException e = assertThrows(
                    SocketTimeoutException.class, () -> Handshake.connect("127.0.0.1", dumb.getLocalPort(), KEY, 300));
            assertTellsOfTimeout(300, e.getMessage());
        }
    }

    private static void assertTellsOfTimeout(int timeoutMs, @Nullable String text) {
        assertTrue(
                text != null
                        && text.contains("longer than " + timeoutMs + " ms, the connect timeout")
                        && text.contains("ContextOptions.withConnectTimeout"),
                text);
    }

    /** They say nothing, trickle what TLS begins with, before and after a greeting, or talk rubbish, and come again. */
    @Test
    @Timeout(60)
    void shouldLetGuestsInWhileStrangersRenewHalfOpenConnections() throws Exception {
        AtomicInteger threads = new AtomicInteger();
        AtomicInteger renewed = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        int guestCount = 8;
        ThreadFactory counting = task -> {
            threads.incrementAndGet();
            return Thread.ofVirtual().unstarted(task);
        };
        try (Listener listener =
                        new Listener(loopback(), KEY, 20_000, guests::add, counting, Acceptor.MAX_UNAUTHENTICATED);
                ExecutorService strangers = Executors.newVirtualThreadPerTaskExecutor();
                var _ = new Ending(over)) { // closed before the executor, which waits for its tasks
            for (int i = 0; i < 500; i++) {
                int kind = i % 4;
                strangers.submit(() -> {
                    while (!over.get()) {
                        bother(listener.port(), kind, over);
                        renewed.incrementAndGet();
                    }
                });
            }
            long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (renewed.get() < 500 && System.nanoTime() - giveUpNs < 0) {
                Thread.sleep(10);
            }
            long beginNs = System.nanoTime();
            for (int i = 0; i < guestCount; i++) {
                assertLetsGuestsIn(listener);
            }
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs);
            over.set(true);
            assertTrue(tookMs < 15_000, guestCount + " guests took " + tookMs + " ms"); // strangers are held longer
            assertTrue(threads.get() <= guestCount, threads + " threads were made");
        }
    }

    /** Tells the strangers that the test is over, also if it has failed. */
    private record Ending(AtomicBoolean over) implements AutoCloseable {
        @Override
        public void close() {
            over.set(true);
        }
    }

    @Test
    @Tag("measures")
    void shouldTurnAwayWhoHasBeenSilentForLongestIfThereAreTooMany() throws Exception {
        ThreadFactory threads = Thread.ofVirtual().factory();
        List<Socket> silent = new ArrayList<>();
        try (Listener listener = new Listener(loopback(), KEY, 20_000, guests::add, threads, 16);
                Socket talking = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            byte[] beginning = new Preauthentication(KEY).opening();
            for (int i = 0; i < 30; i++) {
                Socket stranger = new Socket(InetAddress.getLoopbackAddress(), listener.port());
                stranger.getInputStream().readNBytes(Preauthentication.BYTES);
                silent.add(stranger);
                talking.getOutputStream().write(beginning[i]);
                Thread.sleep(10); // so that it is heard before the next one comes
            }
            assertLetsGuestsIn(listener);
            talking.setSoTimeout(50);
            talking.getInputStream().readNBytes(Preauthentication.BYTES);
            assertThrows(
                    SocketTimeoutException.class, () -> talking.getInputStream().read());
            assertEquals(-1, silent.getFirst().getInputStream().read());
            silent.getLast().setSoTimeout(50);
            assertThrows(
                    SocketTimeoutException.class,
                    () -> silent.getLast().getInputStream().read());
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
    }

    /** One connection of a stranger, for up to two seconds. */
    private static void bother(int port, int kind, AtomicBoolean over) {
        byte[] hello = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, (byte) 0xFC, 0x03, 0x03};
        byte[] greeting = ByteBuffer.allocate(Preauthentication.GREETING_BYTES)
                .putInt(Preauthentication.MAGIC)
                .putInt(Preauthentication.VERSION)
                .array();
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MS);
            socket.setSoTimeout(100);
            OutputStream out = socket.getOutputStream();
            if (kind == 1) {
                out.write(greeting);
            }
            for (int i = 0; i < 20 && !over.get(); i++) {
                switch (kind) {
                    case 0 -> {}
                    case 1 -> out.write(hello[i % hello.length]);
                    case 2 -> out.write(greeting[Math.min(i, 3)]);
                    default -> out.write("rubbish".getBytes());
                }
                try {
                    while (socket.getInputStream().read() >= 0) {}
                    Thread.sleep(100);
                    return;
                } catch (SocketTimeoutException _) {
                    // it still holds
                }
            }
        } catch (IOException | InterruptedException _) {
            // turned away
        }
    }
}
