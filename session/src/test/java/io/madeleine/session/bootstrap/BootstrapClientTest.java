package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.Timeouts;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a process makes of what its bootstrap server says; the test is the server. */
@Timeout(30)
class BootstrapClientTest {
    private static final byte[] KEY = Secrets.controlKey("a secret");
    private static final int CLIENT_GREETING = 72;
    private static final long SERVER_PID = 77;
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(600);

    /** How long a client that has left waits for its server. */
    private static final long HANG_UP_NS = TimeUnit.SECONDS.toNanos(1);

    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

    private ControlConnection server;
    private BootstrapClient client;

    /** What the client has told its listener. */
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    /** Why the session cannot be opened, as the client has told its listener. */
    private final BlockingQueue<String> failures = new LinkedBlockingQueue<>();

    private class Listener implements Bootstrap.Events {
        @Override
        public void peerDied(int rank, String reason) {
            heard.add(rank + " died: " + reason);
        }

        @Override
        public void peerGaveUp(int rank, String reason) {
            heard.add(rank + " gave up: " + reason);
        }

        @Override
        public void peerLeft(int rank) {
            heard.add(rank + " left");
        }

        @Override
        public void cannotOpen(String reason) {
            failures.add(reason);
        }

        @Override
        public void givenUp(String reason) {
            heard.add("given up: " + reason);
        }

        @Override
        public void newsLost(String reason) {
            heard.add("lost: " + reason);
        }
    }

    /** Has rank 0 of 3 join at a server of that rank, or of a launcher. */
    private void join(int serverRank, String host, long peerNs) throws Exception {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            HostAddress address = new HostAddress("127.0.0.1", listening.getLocalPort());
            Membership member = new Membership("s", 0, 3, new Membership.Contact.Launcher(address), "a secret");
            CompletableFuture<BootstrapClient> joining = CompletableFuture.supplyAsync(
                    () -> BootstrapClient.join(
                            member, address, new Timeouts(LONG_NS, 0, 0, peerNs), System.nanoTime() + LONG_NS),
                    THREADS);
            Socket socket = listening.accept();
            ControlHandshake handshake = new ControlHandshake(KEY);
            socket.getOutputStream().write(handshake.opening());
            handshake.received().put(socket.getInputStream().readNBytes(CLIENT_GREETING));
            assertTrue(handshake.isProven());
            server = handshake.admit(socket);
            server.receiveTimeoutMs(20_000);
            assertInstanceOf(ControlMessage.Hello.class, next());
            server.send(new ControlMessage.Welcome("the id", serverRank, host, SERVER_PID));
            client = joining.get(20, TimeUnit.SECONDS);
        }
    }

    private void join() throws Exception {
        join(-1, HostKey.ofThisNetwork(), LONG_NS);
    }

    @AfterEach
    void close() {
        server.close();
        client.close();
    }

    private ControlMessage next() throws IOException {
        return server.receive().orElseThrow();
    }

    private void hears(String expected) throws InterruptedException {
        assertEquals(expected, heard.poll(20, TimeUnit.SECONDS));
    }

    private CompletableFuture<List<byte[]>> exchange(String key, long leftNs) {
        return CompletableFuture.supplyAsync(
                () -> client.exchange(key, new byte[] {1}, System.nanoTime() + leftNs), THREADS);
    }

    private void exchangeFails(String why) {
        String text = assertThrows(SessionException.class, () -> client.exchange("met", new byte[0], LONG_NS))
                .getMessage();
        assertTrue(text.contains(why), text);
    }

    private static String failureOf(CompletableFuture<?> future) {
        ExecutionException thrown = assertThrows(ExecutionException.class, () -> future.get(20, TimeUnit.SECONDS));
        return String.valueOf(thrown.getCause().getMessage());
    }

    @Test
    void shouldTakeTheValuesOfItsExchangeWhenAllHaveCome() throws Exception {
        join();
        assertEquals("the id", client.sessionId());
        CompletableFuture<List<byte[]>> exchange = exchange("met", LONG_NS);
        ControlMessage.Put put = assertInstanceOf(ControlMessage.Put.class, next());
        assertEquals("met", put.key());
        assertArrayEquals(new byte[] {1}, put.value());
        server.send(new ControlMessage.Heartbeat());
        server.send(new ControlMessage.Complete("another"));
        server.send(new ControlMessage.Value("met", 0, new byte[] {1}));
        server.send(new ControlMessage.Value("met", 2, new byte[] {3}));
        server.send(new ControlMessage.Complete("met"));
        List<byte[]> values = exchange.get(20, TimeUnit.SECONDS);
        assertEquals(3, values.size());
        assertArrayEquals(new byte[] {1}, values.get(0));
        assertArrayEquals(new byte[0], values.get(1));
        assertArrayEquals(new byte[] {3}, values.get(2));
        CompletableFuture<List<byte[]>> second = exchange("met again", LONG_NS);
        assertInstanceOf(ControlMessage.Put.class, next());
        server.send(new ControlMessage.Complete("met again"));
        assertArrayEquals(new byte[0], second.get(20, TimeUnit.SECONDS).get(2), "of the second, not of the first");
    }

    @Test
    void shouldHangUpOnAServerThatSendsWhatItMayNot() throws Exception {
        for (ControlMessage wrong : List.of(
                new ControlMessage.Value("met", -1, new byte[1]),
                new ControlMessage.Value("met", 3, new byte[1]),
                new ControlMessage.Value("another", 1, new byte[1]),
                new ControlMessage.Leave())) {
            join();
            client.listen(new Listener());
            CompletableFuture<List<byte[]>> exchange = exchange("met", LONG_NS);
            assertInstanceOf(ControlMessage.Put.class, next());
            server.send(wrong);
            String why = wrong instanceof ControlMessage.Value value
                    ? "the launcher is gone: it sent a value of the exchange \"" + value.key() + "\" for rank "
                            + value.rank() + ": expected the exchange \"met\" and a rank below 3"
                    : "the launcher is gone: it sent a message that only a process may send: leave";
            hears("lost: " + why);
            assertTrue(failureOf(exchange).endsWith(why));
            assertThrows(EOFException.class, this::next);
            close();
        }
    }

    @Test
    @Tag("measures")
    void shouldAskAtItsDeadlineWhoIsMissing() throws Exception {
        join();
        CompletableFuture<List<byte[]>> exchange = exchange("met", 0);
        assertInstanceOf(ControlMessage.Put.class, next());
        assertEquals(new ControlMessage.MissingQuery("met"), next());
        server.send(new ControlMessage.MissingReply("met", "rank 2"));
        assertTrue(failureOf(exchange).endsWith(": rank 2"));
        CompletableFuture<List<byte[]>> second = exchange("met again", 0);
        assertInstanceOf(ControlMessage.Put.class, next());
        assertEquals(new ControlMessage.MissingQuery("met again"), next());
        server.send(new ControlMessage.Complete("met again"));
        assertEquals(3, second.get(20, TimeUnit.SECONDS).size(), "it has become complete meanwhile");
        CompletableFuture<List<byte[]>> third = exchange("met at last", 0);
        assertTrue(failureOf(third).endsWith(": and the bootstrap server does not answer"), "not the answer before");
    }

    @Test
    void shouldEndAnExchangeWhenItsThreadIsInterrupted() throws Exception {
        join();
        CompletableFuture<Boolean> stays = CompletableFuture.supplyAsync(
                () -> {
                    Thread.currentThread().interrupt();
                    assertThrows(
                            WaitInterruptedException.class,
                            () -> client.exchange("met", new byte[1], System.nanoTime() + LONG_NS));
                    return Thread.currentThread().isInterrupted();
                },
                THREADS);
        assertTrue(stays.get(20, TimeUnit.SECONDS));
    }

    @Test
    void shouldFailItsExchangeByTheFirstThatGoesWrong() throws Exception {
        join();
        client.listen(new Listener());
        CompletableFuture<List<byte[]>> exchange = exchange("met", LONG_NS);
        assertInstanceOf(ControlMessage.Put.class, next());
        server.send(new ControlMessage.Left(1));
        hears("1 left");
        assertTrue(failureOf(exchange).endsWith("rank 1 left before the session was open"));
        server.send(new ControlMessage.Death(2, "it ended"));
        hears("2 died: it ended");
        exchangeFails("rank 1 left before the session was open");
    }

    @Test
    void shouldFailItsExchangeForWhateverElseGoesWrong() throws Exception {
        for (ControlMessage news : List.of(
                new ControlMessage.Death(2, "it ended"),
                new ControlMessage.Death(0, "it is silent"),
                new ControlMessage.PeerGaveUp(1, "the line is cut"),
                new ControlMessage.OpenFailed(1, "no memory"),
                new ControlMessage.SessionAbort(1, 3, "enough"))) {
            join();
            CompletableFuture<List<byte[]>> exchange = exchange("met", LONG_NS);
            assertInstanceOf(ControlMessage.Put.class, next());
            server.send(news);
            String why = failureOf(exchange);
            String expected = switch (news) {
                case ControlMessage.Death death
                when death.rank() == 0 -> "the others have given this process up: it is silent";
                case ControlMessage.Death _ -> "rank 2 died: it ended";
                case ControlMessage.PeerGaveUp _ -> "rank 1 is lost: the line is cut";
                case ControlMessage.OpenFailed _ -> "rank 1 could not open the session: no memory";
                default -> "rank 1 has aborted the session with exit code 3: enough";
            };
            assertTrue(why.endsWith(expected), why);
            close();
        }
    }

    @Test
    void shouldTellALateListenerAllThatCameBefore() throws Exception {
        join();
        server.send(new ControlMessage.Death(2, "it ended"));
        server.send(new ControlMessage.PeerGaveUp(1, "the line is cut"));
        server.send(new ControlMessage.Death(0, "it is silent"));
        CompletableFuture<List<byte[]>> exchange = exchange("met", LONG_NS);
        assertInstanceOf(ControlMessage.Put.class, next());
        failureOf(exchange);
        server.send(new ControlMessage.MissingReply("met", "nobody"));
        server.close();
        awaitReaderEnd();
        client.listen(new Listener());
        hears("2 died: it ended");
        hears("1 gave up: the line is cut");
        hears("given up: it is silent");
        assertNull(heard.poll(), "who is given up expects the end of its connection");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTellItsListenerThatTheSessionCannotBeOpened(boolean isLate) throws Exception {
        join();
        if (!isLate) {
            client.listen(new Listener());
        }
        server.send(new ControlMessage.OpenFailed(1, "no memory"));
        server.close();
        awaitReaderEnd();
        if (isLate) {
            client.listen(new Listener());
        }
        assertEquals("rank 1 could not open the session: no memory", failures.poll());
    }

    /** The client's reader has handled all that came before the end of the connection. */
    private void awaitReaderEnd() throws InterruptedException {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("madeleine-control-s-0")) {
                assertTrue(thread.join(Duration.ofSeconds(20)));
            }
        }
    }

    @Test
    void shouldTellALateListenerThatNewsAreLost() throws Exception {
        join();
        server.close();
        awaitReaderEnd();
        client.listen(new Listener());
        hears("lost: the launcher is gone: it closed the connection");
        exchangeFails("the launcher is gone: it closed the connection");
    }

    @Test
    void shouldTellTheDeathOfTheRankThatServesAndThatNewsAreLost() throws Exception {
        join(1, HostKey.ofThisNetwork(), LONG_NS);
        client.listen(new Listener());
        server.close();
        hears("1 died: its process ended or cannot be reached: it closed the connection");
        hears("lost: rank 1 is gone: it closed the connection");
    }

    @Test
    void shouldTellTheExitOfTheRankThatServes() throws Exception {
        join(1, HostKey.ofThisNetwork(), LONG_NS);
        client.listen(new Listener());
        server.send(new ControlMessage.Exiting(1));
        server.close();
        String news = heard.poll(20, TimeUnit.SECONDS);
        assertTrue(
                news != null && news.startsWith("1 died: it exited without closing its session (process 77 on "),
                "" + news);
        hears("lost: rank 1 is gone: it closed the connection");
    }

    @Test
    void shouldNotTellOfItsOwnDeathIfItServesItself() throws Exception {
        join(0, HostKey.ofThisNetwork(), LONG_NS);
        client.listen(new Listener());
        server.close();
        hears("lost: rank 0 is gone: it closed the connection");
    }

    @Test
    void shouldExpectTheEndOfItsConnectionWhenTheRankThatServesHasLeft() throws Exception {
        join(1, HostKey.ofThisNetwork(), LONG_NS);
        client.listen(new Listener());
        server.send(new ControlMessage.Left(2));
        server.send(new ControlMessage.Left(1));
        server.close();
        hears("2 left");
        hears("1 left");
        awaitReaderEnd();
        assertNull(heard.poll());
    }

    @Test
    void shouldTellOfTheEndOfItsConnectionWhenAnotherThanTheRankThatServesHasLeft() throws Exception {
        join(1, HostKey.ofThisNetwork(), LONG_NS);
        client.listen(new Listener());
        server.send(new ControlMessage.Left(2));
        server.close();
        hears("2 left");
        hears("1 died: its process ended or cannot be reached: it closed the connection");
    }

    @Test
    void shouldTellOfTheFirstAbortAlone() throws Exception {
        join();
        BlockingQueue<String> ends = new LinkedBlockingQueue<>();
        client.listen(new Listener());
        client.onEnd(end -> ends.add("first " + end.code()));
        server.send(new ControlMessage.SessionAbort(1, 3, "enough"));
        server.send(new ControlMessage.SessionAbort(2, 4, "later"));
        server.close();
        awaitReaderEnd();
        assertEquals("first 3", ends.poll());
        assertNull(ends.poll());
        client.onEnd(end -> ends.add("second " + end.code()));
        assertEquals("second 3", ends.poll());
        assertNull(heard.poll(), "after an abort the end of the connection is expected");
    }

    @Test
    void shouldGoOnWithoutAListenerOfAborts() throws Exception {
        join();
        server.send(new ControlMessage.SessionAbort(1, 3, "enough"));
        server.close();
        awaitReaderEnd();
        BlockingQueue<String> ends = new LinkedBlockingQueue<>();
        client.onEnd(end -> ends.add(end.reason()));
        assertEquals("enough", ends.poll());
    }

    @Test
    void shouldSayToItsServerWhatItsUserSays() throws Exception {
        join();
        client.lost(2, "the line is cut");
        assertEquals(new ControlMessage.Death(2, "the line is cut"), next());
        client.end(3, "enough");
        assertEquals(new ControlMessage.SessionAbort(0, 3, "enough"), next());
        CompletableFuture<Void> aborting = CompletableFuture.runAsync(() -> client.abort("no memory"), THREADS);
        assertEquals(new ControlMessage.OpenFailed(0, "no memory"), next());
        server.close(); // it hangs up when it has noted that
        aborting.get(20, TimeUnit.SECONDS);
        assertNull(heard.poll());
    }

    @Test
    void shouldLeaveOnceAndHangUpAfterItsServer() throws Exception {
        join();
        client.listen(new Listener());
        long beganNs = System.nanoTime();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(client::close, THREADS);
        assertEquals(new ControlMessage.Leave(), next());
        client.close(); // has no effect, and does not wait
        client.abort("too late");
        server.receiveTimeoutMs(50);
        try {
            assertTrue(server.receive().isEmpty(), "it says nothing more, and waits for its server");
        } catch (EOFException _) {
            long waitedNs = System.nanoTime() - beganNs;
            assertTrue(waitedNs >= HANG_UP_NS, "it hung up after " + waitedNs + " ns");
        }
        server.close();
        closing.get(20, TimeUnit.SECONDS);
        assertNull(heard.poll());
    }

    @Test
    void shouldSendSignsOfLifeToAnotherHost() throws Exception {
        join(-1, "another host", TimeUnit.SECONDS.toNanos(3));
        assertEquals(new ControlMessage.Heartbeat(), next());
    }

    @Test
    @Tag("measures")
    void shouldGiveSignsInTimeWhileItHearsThoseOfItsServer() throws Exception {
        join(-1, "another host", TimeUnit.MILLISECONDS.toNanos(900)); // three signs in this time
        SignsOfLifeTest.assertGivesSignsInTime(server);
    }

    @Test
    void shouldGiveUpASilentServerOfAnotherHost() throws Exception {
        join(-1, "another host", TimeUnit.MILLISECONDS.toNanos(100));
        client.listen(new Listener());
        String news = heard.poll(20, TimeUnit.SECONDS);
        assertNotNull(news);
        assertTrue(news.startsWith("lost: the launcher is gone: it gave no sign for "), news);
    }

    @Test
    void shouldGoOnWithASilentServerOfItsOwnHost() throws Exception {
        join(-1, HostKey.ofThisNetwork(), TimeUnit.MILLISECONDS.toNanos(30));
        client.listen(new Listener());
        server.receiveTimeoutMs(300); // ten times as long as another host may be silent
        assertTrue(server.receive().isEmpty(), "it sends no signs of life either");
        assertNull(heard.poll());
        server.receiveTimeoutMs(20_000);
        client.end(3, "enough");
        assertEquals(new ControlMessage.SessionAbort(0, 3, "enough"), next());
    }

    @Test
    void shouldSayThatNewsAreLostWhenAListenerFails() throws Exception {
        join();
        client.listen(new Listener() {
            @Override
            public void peerDied(int rank, String reason) {
                throw new IllegalStateException("it fails");
            }
        });
        server.send(new ControlMessage.Death(2, "it ended"));
        hears("lost: the launcher is gone: its messages can no longer be handled:"
                + " java.lang.IllegalStateException: it fails");
    }
}
