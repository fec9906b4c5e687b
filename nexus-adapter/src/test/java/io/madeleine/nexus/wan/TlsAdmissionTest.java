package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Acceptor;
import io.madeleine.admission.NoticeLimit;
import io.madeleine.admission.UnauthenticatedConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Filter;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that have knocked and wait for TLS. */
@Timeout(60)
class TlsAdmissionTest {
    private static final Credentials KEY = new Credentials(new byte[32], null);
    private static final int AT_ONCE = 64;
    private static final int MOST_WAITING = 1_024;
    private static final int TIMEOUT_MS = 60_000;

    private final NoticeLimit notices = new NoticeLimit(System.getLogger("io.madeleine.nexus"), "");
    private final BlockingQueue<UnauthenticatedConnection<Preauthentication>> proven = new LinkedBlockingQueue<>();
    private final Acceptor.Host<Preauthentication> host = new Acceptor.Host<>() {
        @Override
        public Preauthentication newHandshake() {
            return new Preauthentication(KEY);
        }

        @Override
        public void proven(UnauthenticatedConnection<Preauthentication> connection) {
            proven.add(connection);
        }
    };

    @Test
    void shouldCloseConnectionsThatWaitWhenTheListenerIsClosed() throws Exception {
        List<Socket> guests = new ArrayList<>();
        List<UnauthenticatedConnection<Preauthentication>> entered = new ArrayList<>();
        try (Acceptor<Preauthentication> acceptor = new Acceptor<>(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new Acceptor.Settings("test-listener", TIMEOUT_MS, "late", Acceptor.MAX_UNAUTHENTICATED),
                notices,
                host)) {
            try (TlsAdmission admission = new TlsAdmission(
                    KEY,
                    TIMEOUT_MS,
                    _ -> {},
                    _ -> Thread.ofVirtual().unstarted(() -> {}), // nobody is ever served
                    notices)) {
                for (int i = 0; i < AT_ONCE + 2; i++) {
                    guests.add(knock(acceptor.address()));
                    UnauthenticatedConnection<Preauthentication> connection = proven.poll(30, TimeUnit.SECONDS);
                    assertNotNull(connection);
                    entered.add(connection);
                    admission.enter(connection);
                }
            }
            for (int i = 0; i < AT_ONCE; i++) {
                assertTrue(entered.get(i).channel().isOpen());
            }
            assertFalse(entered.get(AT_ONCE).channel().isOpen());
            assertFalse(entered.get(AT_ONCE + 1).channel().isOpen());
        } finally {
            for (Socket guest : guests) {
                guest.close();
            }
            entered.forEach(UnauthenticatedConnection::close);
            notices.close();
        }
    }

    private Acceptor<Preauthentication> acceptor() throws IOException {
        return new Acceptor<>(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new Acceptor.Settings("test-listener", TIMEOUT_MS, "late", Acceptor.MAX_UNAUTHENTICATED),
                notices,
                host);
    }

    private UnauthenticatedConnection<Preauthentication> knocked(Acceptor<Preauthentication> acceptor, Socket[] guest)
            throws Exception {
        guest[0] = knock(acceptor.address());
        UnauthenticatedConnection<Preauthentication> connection = proven.poll(30, TimeUnit.SECONDS);
        assertNotNull(connection);
        return connection;
    }

    /** Connects in another thread, which tells how that ended. */
    private static void connect(Acceptor<Preauthentication> acceptor, CompletableFuture<SealedConnection> connecting) {
        Thread.ofVirtual().start(() -> {
            try {
                connecting.complete(
                        Handshake.connect("127.0.0.1", acceptor.address().getPort(), KEY, TIMEOUT_MS));
            } catch (Throwable e) {
                connecting.completeExceptionally(e);
            }
        });
    }

    /** A close before that of the try statement. */
    private static void end(AutoCloseable ending) throws Exception {
        ending.close();
    }

    /** One connection stands for many: what counts is how often it has entered. */
    @Test
    void shouldTurnAwayWhoeverComesAfterTheLastPlaceToWait() throws Exception {
        Socket[] guest = new Socket[1];
        try (Acceptor<Preauthentication> acceptor = acceptor();
                TlsAdmission admission = new TlsAdmission(
                        KEY, TIMEOUT_MS, _ -> {}, _ -> Thread.ofVirtual().unstarted(() -> {}), notices)) {
            UnauthenticatedConnection<Preauthentication> connection = knocked(acceptor, guest);
            for (int i = 0; i < AT_ONCE + MOST_WAITING; i++) {
                admission.enter(connection);
            }
            assertTrue(connection.channel().isOpen());
            admission.enter(connection);
            assertFalse(connection.channel().isOpen());
            guest[0].close();
        }
    }

    @Test
    void shouldHaveItsPlaceBackFromEachThatWasServedOrGotNoThread() throws Exception {
        Socket[] guest = new Socket[1];
        AtomicInteger served = new AtomicInteger();
        try (Acceptor<Preauthentication> acceptor = acceptor();
                TlsAdmission admission = new TlsAdmission(
                        KEY,
                        TIMEOUT_MS,
                        _ -> {},
                        task -> new Thread(task) {
                            @Override
                            public void start() { // at once, in the test's thread
                                if (served.incrementAndGet() % 2 == 0) {
                                    throw new OutOfMemoryError("unable to create native thread");
                                }
                                task.run();
                            }
                        },
                        notices)) {
            UnauthenticatedConnection<Preauthentication> gone = knocked(acceptor, guest);
            guest[0].close();
            gone.close();
            for (int i = 0; i < 2 * AT_ONCE + 4; i++) {
                try {
                    admission.enter(gone);
                } catch (OutOfMemoryError _) {
                    // each second one
                }
            }
            assertEquals(2 * AT_ONCE + 4, served.get());
        }
    }

    /** The thread that is free serves those that wait, and then has done. */
    @Test
    void shouldServeThoseThatWaitAndHangUpOnThoseThatComeAfterTheEnd() throws Exception {
        List<Runnable> tasks = new ArrayList<>();
        Socket[] guest = new Socket[1];
        AtomicInteger welcome = new AtomicInteger();
        try (Acceptor<Preauthentication> acceptor = acceptor();
                TlsAdmission admission = new TlsAdmission(
                        KEY,
                        TIMEOUT_MS,
                        _ -> welcome.incrementAndGet(),
                        task -> {
                            tasks.add(task);
                            return Thread.ofVirtual().unstarted(() -> {});
                        },
                        notices)) {
            List<UnauthenticatedConnection<Preauthentication>> all = new ArrayList<>();
            for (int i = 0; i < AT_ONCE + 2; i++) {
                all.add(knocked(acceptor, guest));
                guest[0].close();
                admission.enter(all.getLast());
            }
            assertEquals(AT_ONCE, tasks.size());
            tasks.getFirst().run();
            for (UnauthenticatedConnection<Preauthentication> served :
                    List.of(all.getFirst(), all.get(AT_ONCE), all.get(AT_ONCE + 1))) {
                assertFalse(served.channel().isOpen());
            }
            assertTrue(all.get(1).channel().isOpen(), "its thread has not run");
            all.add(knocked(acceptor, guest));
            guest[0].close();
            admission.enter(all.getLast());
            assertEquals(AT_ONCE + 1, tasks.size(), "there is a place again");

            end(admission);
            CompletableFuture<SealedConnection> connecting = new CompletableFuture<>();
            connect(acceptor, connecting);
            UnauthenticatedConnection<Preauthentication> late = proven.poll(30, TimeUnit.SECONDS);
            assertNotNull(late);
            admission.enter(late);
            assertFalse(late.channel().isOpen());
            assertEquals(AT_ONCE + 1, tasks.size());
            assertEquals(0, welcome.get());
            end(acceptor); // so that the next attempt of the guest is the last
            assertThrows(ExecutionException.class, connecting::get);
            all.forEach(UnauthenticatedConnection::close);
        }
    }

    /** The time counts from its first byte on: whoever waited for a place has only the rest of it. */
    @Test
    void shouldGiveAGuestWhatIsLeftOfItsTimeAndSayWhatItWas() throws Exception {
        int timeoutMs = 700;
        List<Runnable> tasks = new ArrayList<>();
        Socket[] guest = new Socket[1];
        BlockingQueue<String> warnings = new LinkedBlockingQueue<>();
        Logger logger = Logger.getLogger("io.madeleine.nexus");
        Filter before = logger.getFilter();
        logger.setFilter(line -> {
            warnings.add(line.getMessage());
            return false;
        });
        try (Acceptor<Preauthentication> acceptor = acceptor();
                TlsAdmission admission = new TlsAdmission(
                        KEY,
                        timeoutMs,
                        _ -> {},
                        task -> {
                            tasks.add(task);
                            return Thread.ofVirtual().unstarted(() -> {});
                        },
                        notices)) {
            UnauthenticatedConnection<Preauthentication> connection = knocked(acceptor, guest);
            String remote = guest[0].getLocalSocketAddress().toString();
            admission.enter(connection);
            Thread.sleep(timeoutMs); // it waits for its thread
            long beganNs = System.nanoTime();
            tasks.getFirst().run(); // the guest says nothing of TLS
            assertTrue(System.nanoTime() - beganNs < timeoutMs * 1_000_000L, "it had its time already");
            assertFalse(connection.channel().isOpen());
            String warning = String.valueOf(warnings.poll(20, TimeUnit.SECONDS));
            assertTrue(
                    warning.startsWith(
                            "the connection from " + remote + " is refused: " + Deadline.text(timeoutMs) + " ("),
                    warning);
        } finally {
            logger.setFilter(before);
            guest[0].close();
        }
    }

    @Test
    void shouldWelcomeNobodyWhoseHandshakeEndsAfterTheListenerIsClosed() throws Exception {
        List<Runnable> tasks = new ArrayList<>();
        AtomicInteger welcome = new AtomicInteger();
        try (Acceptor<Preauthentication> acceptor = acceptor();
                TlsAdmission admission = new TlsAdmission(
                        KEY,
                        TIMEOUT_MS,
                        _ -> welcome.incrementAndGet(),
                        task -> {
                            tasks.add(task);
                            return Thread.ofVirtual().unstarted(() -> {});
                        },
                        notices)) {
            CompletableFuture<SealedConnection> connecting = new CompletableFuture<>();
            for (int i = 0; i < 2; i++) {
                connect(acceptor, connecting);
                UnauthenticatedConnection<Preauthentication> entering = proven.poll(30, TimeUnit.SECONDS);
                assertNotNull(entering);
                admission.enter(entering);
                if (i == 1) {
                    end(admission);
                }
                tasks.get(i).run();
                assertEquals(1, welcome.get());
                assertEquals(i == 0, entering.channel().isOpen());
                entering.close();
            }
            connecting.get().close();
        }
    }

    /** Knocks, and leaves it to a thread to wait for an answer that does not come. */
    private static Socket knock(InetSocketAddress address) throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        Thread.startVirtualThread(() -> {
            try {
                Preauthentication.knock(socket, KEY);
            } catch (IOException _) {
                // closed
            }
        });
        return socket;
    }
}
