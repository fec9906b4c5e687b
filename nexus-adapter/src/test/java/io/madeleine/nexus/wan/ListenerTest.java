package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Strangers at the listener's port, and shortage around it. */
@Timeout(30)
class ListenerTest {
    private static final Credentials KEY = new Credentials(new byte[32], null);
    private static final int TIMEOUT_MS = 5_000;

    private final Logger logger = Logger.getLogger("io.madeleine.nexus");
    private final ConcurrentLinkedQueue<String> warnings = new ConcurrentLinkedQueue<>();
    private final BlockingQueue<SealedConnection> guests = new ArrayBlockingQueue<>(16);

    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            warnings.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void hear() {
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
    }

    @AfterEach
    void stopHearing() {
        logger.removeHandler(handler);
        logger.setUseParentHandlers(true);
    }

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private void assertLetsGuestsIn(Listener listener) throws Exception {
        try (SealedConnection _ = Handshake.connect("127.0.0.1", listener.port(), KEY, TIMEOUT_MS);
                SealedConnection guest = guests.poll(5, TimeUnit.SECONDS)) {
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

    @Test
    void shouldGoOnAcceptingWhenNoThreadCanBeMade() throws Exception {
        AtomicInteger made = new AtomicInteger();
        ThreadFactory scarce = task -> {
            if (made.incrementAndGet() <= 3) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return Thread.ofVirtual().unstarted(task);
        };
        try (Listener listener = new Listener(loopback(), KEY, TIMEOUT_MS, guests::add, scarce)) {
            for (int i = 0; i < 3; i++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
                    assertTrue(socket.getInputStream().readAllBytes().length == 0, "closed without a word");
                }
            }
            assertLetsGuestsIn(listener);
        }
        assertTrue(warnings.peek().contains("unable to create native thread"), warnings::toString);
    }
}
