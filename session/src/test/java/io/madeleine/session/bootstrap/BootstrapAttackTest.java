package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.session.TestSessions;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.Timeouts;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Strangers at the bootstrap server's port, and shortage around it. */
@Timeout(60)
class BootstrapAttackTest {
    private static final String SECRET = "5f0d1c8e9b7a42638e21c4d5a6f70b9d";
    private static final long PEER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(25);
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static BootstrapServer server(int size) throws IOException {
        return new BootstrapServer(ANY, new BootstrapServer.Settings(size, SECRET, -1, PEER_TIMEOUT_NS));
    }

    private static BootstrapClient join(InetSocketAddress server, int rank, int size) {
        HostAddress address = new HostAddress("127.0.0.1", server.getPort());
        return BootstrapClient.join(
                new Membership("s", rank, size, new Membership.Contact.Launcher(address), SECRET),
                address,
                new Timeouts(PEER_TIMEOUT_NS, 0, 0, PEER_TIMEOUT_NS),
                System.nanoTime() + PATIENCE_NS);
    }

    /** Has all of a session meet. */
    private static void meet(InetSocketAddress server, int size) throws Exception {
        List<Callable<Integer>> processes = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int rank = i;
            processes.add(() -> {
                try (BootstrapClient client = join(server, rank, size)) {
                    return client.exchange("open", new byte[1], System.nanoTime() + PATIENCE_NS)
                            .size();
                }
            });
        }
        for (int met : TestSessions.all(processes)) {
            assertEquals(size, met);
        }
    }

    @Test
    void shouldLetASessionOfFourMeetAmongFiveHundredHalfOpenConnections() throws Exception {
        List<String> warnings = new ArrayList<>();
        long beginNs = System.nanoTime();
        Warnings heard = new Warnings();
        try (BootstrapServer server = server(4);
                HalfOpen strangers = new HalfOpen(server.address(), 500)) {
            for (int round = 0; round < 2; round++) {
                strangers.await(500 * (round + 1));
                meet(server.address(), 4);
            }
            assertTrue(strangers.made() >= 1_000, () -> "only " + strangers.made() + " connected");
            warnings.addAll(heard.lines);
        } finally {
            heard.close();
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beginNs);
        assertTrue(warnings.size() <= seconds + 1, () -> warnings.size() + " lines in " + seconds + " s: " + warnings);
    }

    @Test
    void shouldServeFiveHundredStrangersByOneThread() throws Exception {
        List<Socket> strangers = new ArrayList<>();
        try (BootstrapServer server = server(1)) {
            meet(server.address(), 1);
            int threads = Thread.activeCount();
            long beginNs = System.nanoTime();
            for (int i = 0; i < 500; i++) {
                Socket stranger = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort());
                strangers.add(stranger);
                assertEquals(40, stranger.getInputStream().readNBytes(40).length);
            }
            meet(server.address(), 1);
            assertTrue(Thread.activeCount() < threads + 10, () -> Thread.activeCount() + " threads");
            Socket first = strangers.getFirst();
            first.setSoTimeout(1);
            if (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs) < BootstrapServer.HANDSHAKE_TIMEOUT_MS) {
                assertThrows(
                        SocketTimeoutException.class,
                        () -> first.getInputStream().read(),
                        "still there");
            }
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    @Test
    void shouldWarnOnceASecondOfHoweverManyStrangers() throws Exception {
        long beginNs = System.nanoTime();
        try (Warnings heard = new Warnings();
                BootstrapServer server = server(1)) {
            for (int i = 0; i < 300; i++) {
                try (Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
                    socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes());
                    assertEquals(0x4D, socket.getInputStream().read());
                }
            }
            meet(server.address(), 1);
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beginNs);
            assertTrue(!heard.lines.isEmpty() && heard.lines.size() <= seconds + 1, heard.lines::toString);
            assertTrue(heard.lines.peek().contains("not a Madeleine control connection"), heard.lines::toString);
        }
    }

    private static final class Warnings extends Handler implements AutoCloseable {
        final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
        private final Logger logger = Logger.getLogger(BootstrapServer.class.getName());

        Warnings() {
            logger.addHandler(this);
            logger.setUseParentHandlers(false);
        }

        @Override
        public void publish(LogRecord line) {
            lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
            logger.setUseParentHandlers(true);
        }
    }

    @Test
    void shouldGoOnAcceptingWhenNoThreadCanBeMade() throws Exception {
        AtomicInteger made = new AtomicInteger();
        ThreadFactory scarce = task -> {
            if (made.incrementAndGet() <= 5) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return Thread.ofPlatform().daemon().unstarted(task);
        };
        try (Warnings heard = new Warnings();
                BootstrapServer server = new BootstrapServer(
                        ANY, new BootstrapServer.Settings(2, SECRET, -1, PEER_TIMEOUT_NS), scarce)) {
            meet(server.address(), 2);
            assertTrue(heard.lines.peek().contains("unable to create native thread"), heard.lines::toString);
        }
    }

    /** The server's process has no descriptor left for members until strangers give theirs back. */
    @Test
    void shouldGoOnAcceptingWhenDescriptorsHaveRunOut() throws Exception {
        Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -n 64 && exec \"$0\" \"$@\"",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Server.class.getName())
                .redirectErrorStream(true)
                .start();
        List<String> lines = new ArrayList<>();
        try (BufferedReader out = process.inputReader()) {
            InetSocketAddress address = new InetSocketAddress(ANY.getAddress(), Integer.parseInt(out.readLine()));
            Thread reader = Thread.ofPlatform().start(() -> out.lines().forEach(lines::add));
            try (HalfOpen strangers = new HalfOpen(address, 200)) {
                strangers.await(500);
            }
            try {
                meet(address, 2);
            } finally {
                process.getOutputStream().close();
                reader.join();
            }
            assertTrue(lines.stream().anyMatch(line -> line.contains("Too many open files")), lines::toString);
        } finally {
            process.destroyForcibly();
        }
    }

    static final class Server {
        public static void main(String[] args) throws IOException {
            try (BootstrapServer server = server(2)) {
                System.out.println(server.address().getPort());
                int _ = System.in.read();
            }
        }
    }
}
