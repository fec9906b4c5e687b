package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A context of another session behind a slow link, beside one with a fast one. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("measures")
class SlowGuestTest {
    private static final int LARGE = 256 << 10;
    private static final long WARM_UP_NS = TimeUnit.MILLISECONDS.toNanos(800);

    /** So long alone and so long beside the slow one, in turns: what else the machine does happens to both. */
    private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int TURNS = 12;

    /** Called by the fast one. */
    @RemoteService
    public interface Adder {
        /** One more. */
        int next(int number);
    }

    /**
     * Passes a connection on, and in one direction no more than 4 Mbit/s while it is slow, and half of an argument: the
     * rest waits until it is fast again, however late that is.
     */
    private static final class SlowLink implements AutoCloseable {
        private static final int CHUNK = 2_000;
        private static final long CHUNK_NS = CHUNK * 8 * 1_000L / 4;

        private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private volatile boolean slow = true;

        SlowLink(int port) throws IOException {
            Thread.ofVirtual().start(() -> {
                try (Socket from = listening.accept();
                        Socket to = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    Thread back = Thread.ofVirtual().start(() -> pump(to, from, false));
                    pump(from, to, true);
                    to.shutdownOutput();
                    back.join();
                } catch (IOException | InterruptedException e) {
                    // the test is over
                }
            });
        }

        private void pump(Socket from, Socket to, boolean throttled) {
            byte[] chunk = new byte[CHUNK];
            int slowly = 0;
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int read = in.read(chunk); read > 0; read = in.read(chunk)) {
                    boolean waits = throttled && slow;
                    slowly = waits ? slowly : 0;
                    while (waits) {
                        LockSupport.parkNanos(CHUNK_NS);
                        waits = slow && slowly >= LARGE / 2;
                    }
                    slowly += read;
                    out.write(chunk, 0, read);
                }
            } catch (IOException e) {
                // closed
            }
        }

        int port() {
            return listening.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            slow = false;
            listening.close();
        }
    }

    private static int callsIn(long ns, Adder adder) {
        int count = 0;
        for (long endNs = System.nanoTime() + ns; System.nanoTime() - endNs < 0; ) {
            count = adder.next(count);
        }
        return count;
    }

    @Test
    void shouldServeAFastGuestWhileALargeArgumentOfASlowOneTricklesIn() throws Exception {
        AtomicInteger bytes = new AtomicInteger();
        try (World server = new World("sci", 1, context -> {
                    context.export(Adder.class, number -> number + 1);
                    context.endpoint("e")
                            .nonThreaded("take", (_, request) -> bytes.addAndGet(request.getBytes().length));
                });
                World fast = new World("sci", 1, _ -> {});
                World slow = new World("sci", 1, _ -> {})) {
            AttachPoint point = server.of(0)
                    .allowAttach(
                            new InetSocketAddress("127.0.0.1", 0),
                            List.of("127.0.0.1"),
                            who -> Optional.of(
                                    server.of(0).startpoint(0, who.path().equals("e") ? "e" : Adder.class.getName())));
            URI url = URI.create(point.url());
            Adder adder = fast.of(0)
                    .attach("nexus://127.0.0.1:" + url.getPort() + "/")
                    .service(Adder.class);
            callsIn(WARM_UP_NS, adder);
            try (SlowLink link = new SlowLink(url.getPort())) {
                Startpoint take = slow.of(0).attach("nexus://127.0.0.1:" + link.port() + "/e");
                int alone = 0;
                int beside = 0;
                for (int received = 0; received < TURNS * LARGE; received += LARGE) {
                    alone += callsIn(TURN_NS, adder);
                    link.slow = true;
                    Thread sender =
                            Thread.ofVirtual().start(() -> take.rsr("take", new Arguments().putBytes(new byte[LARGE])));
                    beside += callsIn(TURN_NS, adder);
                    assertEquals(received, bytes.get(), "the slow link was not slow");
                    link.slow = false;
                    sender.join();
                    int whole = received + LARGE;
                    World.await(() -> bytes.get() == whole);
                }
                String seen = beside + " calls beside a slow guest, " + alone + " alone";
                assertTrue(2 * beside > alone, seen);
            }
        }
    }
}
