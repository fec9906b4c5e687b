package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Proofs;
import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.session.TestSessions;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.Timeouts;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BootstrapTest {
    private static final String SECRET = "open sesame";
    private static final long PEER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

    /** Less than the time-out of a peer: what takes no longer was told, and not found out by its silence. */
    private static final long PATIENCE_S = 25;

    private static final Timeouts TIMEOUTS = timeouts(PEER_TIMEOUT_NS);

    private final List<AutoCloseable> opened = new ArrayList<>();

    private static Timeouts timeouts(long peerNs) {
        return new Timeouts(TimeUnit.SECONDS.toNanos(20), 0, 0, peerNs);
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private BootstrapServer server(int size) throws IOException {
        BootstrapServer server = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(size, SECRET, -1, PEER_TIMEOUT_NS));
        opened.add(server);
        return server;
    }

    private static Membership member(BootstrapServer server, String name, int rank, int size, String secret) {
        return new Membership(name, rank, size, new Membership.Contact.Launcher(at(server)), secret);
    }

    private static HostAddress at(BootstrapServer server) {
        return new HostAddress("127.0.0.1", server.address().getPort());
    }

    private BootstrapClient join(BootstrapServer server, int rank, int size) {
        return join(server, member(server, "s", rank, size, SECRET));
    }

    private BootstrapClient join(BootstrapServer server, Membership member) {
        BootstrapClient client = BootstrapClient.join(member, at(server), TIMEOUTS, in(PATIENCE_S));
        opened.add(client);
        return client;
    }

    private static long in(double seconds) {
        return System.nanoTime() + (long) (seconds * 1e9);
    }

    private static String messageOf(Runnable failing) {
        return assertThrows(SessionException.class, failing::run).getMessage();
    }

    @Test
    void shouldGiveEveryProcessTheValuesOfAll() throws Exception {
        int size = 8;
        BootstrapServer server = server(size);
        List<Callable<List<byte[]>>> processes = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < size; i++) {
            int rank = i;
            processes.add(() -> {
                BootstrapClient client = join(server, rank, size);
                synchronized (ids) {
                    ids.add(client.sessionId());
                }
                client.exchange("first", new byte[] {(byte) rank}, in(PATIENCE_S));
                client.exchange("barrier", new byte[0], in(PATIENCE_S));
                return client.exchange("second", new byte[rank * 1000], in(PATIENCE_S));
            });
        }
        for (List<byte[]> values : TestSessions.all(processes)) {
            for (int rank = 0; rank < size; rank++) {
                assertEquals(rank * 1000, values.get(rank).length);
            }
        }
        assertEquals(1, ids.size());
    }

    @Test
    void shouldExchangeTheLargestValues() throws Exception {
        BootstrapServer server = server(3);
        byte[] value = new byte[ControlMessage.MAX_VALUE_BYTES];
        new Random(1).nextBytes(value);
        List<Callable<List<byte[]>>> processes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int rank = i;
            processes.add(() -> join(server, rank, 3).exchange("large", value, in(PATIENCE_S)));
        }
        for (List<byte[]> values : TestSessions.all(processes)) {
            values.forEach(received -> assertArrayEquals(value, received));
        }
    }

    @Test
    void shouldServeSessionsOfDifferentNamesApart() throws Exception {
        BootstrapServer server = server(1);
        BootstrapClient a = join(server, member(server, "a", 0, 1, SECRET));
        BootstrapClient b = join(server, member(server, "b", 0, 1, SECRET));
        assertNotEquals(a.sessionId(), b.sessionId());
    }

    @Test
    void shouldServeANameAgainAfterItsProcessesLeft() throws Exception {
        BootstrapServer server = server(2);
        String before = "";
        for (int round = 0; round < 20; round++) {
            List<Callable<String>> processes = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                int rank = i;
                processes.add(() -> {
                    try (BootstrapClient client = join(server, rank, 2)) {
                        client.exchange("open", new byte[0], in(PATIENCE_S));
                        return client.sessionId();
                    }
                });
            }
            List<String> ids = TestSessions.all(processes);
            assertEquals(ids.get(0), ids.get(1));
            assertNotEquals(before, ids.get(0));
            before = ids.get(0);
        }
    }

    @Test
    void shouldRefuseAWrongSecretAndNameTheKey() throws Exception {
        BootstrapServer server = server(1);
        byte[] _ = Secrets.controlKey("guessed"); // which takes a cold JVM long
        String message = messageOf(() -> join(server, member(server, "s", 0, 1, "guessed")));
        assertTrue(message.contains("madeleine.session.secret"), message);
    }

    @Test
    void shouldSayWhichEndHasNoSecret() throws Exception {
        BootstrapServer server = server(2);
        String without = messageOf(() -> join(server, member(server, "s", 0, 2, "")));
        assertTrue(without.contains("this process has no secret, and the session there has one"), without);
        String missing = messageOf(() -> join(server, 1, 2).exchange("told their names", new byte[1], in(0.1)));
        assertTrue(missing.contains("a process does not know the session's secret: it has none"), missing);
        BootstrapServer open = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(1, "", -1, PEER_TIMEOUT_NS));
        opened.add(open);
        String with = messageOf(() -> join(open, member(open, "s", 0, 1, SECRET)));
        assertTrue(with.contains("the session there has no secret, and this process has one"), with);
    }

    @Test
    void shouldNotBelieveAServerThatDoesNotKnowTheSecret() throws Exception {
        BootstrapServer impostor = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(1, "guessed", -1, PEER_TIMEOUT_NS));
        opened.add(impostor);
        String message = messageOf(() -> join(impostor, member(impostor, "s", 0, 1, SECRET)));
        assertTrue(message.contains("madeleine.session.secret"), message);
    }

    @Test
    void shouldRefuseARankThatIsThereAlready() throws Exception {
        BootstrapServer server = server(2);
        join(server, 0, 2);
        String message = messageOf(() -> join(server, 0, 2));
        assertTrue(message.contains("rank 0 is in session s already"), message);
    }

    @Test
    void shouldRefuseAnotherNameWhereOneSessionMeets() throws Exception {
        BootstrapServer server = server(2);
        server.serveOnly("s");
        join(server, 0, 2);
        String message = messageOf(() -> join(server, member(server, "t", 1, 2, SECRET)));
        assertTrue(message.contains("madeleine.session.name"), message);
    }

    @Test
    void shouldRefuseAnotherSize() throws Exception {
        BootstrapServer server = server(2);
        String message = messageOf(() -> join(server, 0, 3));
        assertTrue(message.contains("madeleine.session.size"), message);
    }

    @Test
    @Tag("measures")
    void shouldNameWhoIsMissingAtTheDeadline() throws Exception {
        BootstrapServer server = server(3);
        BootstrapClient zero = join(server, 0, 3);
        join(server, 1, 3);
        String message = messageOf(() -> zero.exchange("told their names", new byte[1], in(0.2)));
        assertTrue(message.contains("not all processes have told their names within"), message);
        assertTrue(message.contains("within madeleine.session.open-timeout = 20s: "), message);
        assertTrue(message.contains("rank 2 has not joined"), message);
        assertTrue(
                message.contains("rank 1 (process " + ProcessHandle.current().pid() + ") has not reached this step"),
                message);
    }

    @Test
    void shouldSayThatNobodyListens() throws Exception {
        BootstrapServer server = server(1);
        Membership member = member(server, "s", 0, 1, SECRET);
        HostAddress address = at(server);
        server.close();
        TestSessions.awaitRefusal(server.address());
        String message = messageOf(() -> BootstrapClient.join(member, address, TIMEOUTS, in(0.3)));
        assertTrue(message.contains("the launcher cannot be reached at " + address), message);
    }

    @Test
    void shouldSayThatWhoListensDoesNotAnswer() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            HostAddress address = new HostAddress("127.0.0.1", silent.getLocalPort());
            Membership member = new Membership("s", 1, 2, new Membership.Contact.Root(address, false), SECRET);
            String message = messageOf(() -> BootstrapClient.join(member, address, TIMEOUTS, in(0.3)));
            assertTrue(message.endsWith(": it does not answer"), message);
        }
    }

    @Test
    void shouldSayThatSomebodyListenedBefore() throws Exception {
        String message = "";
        while (!message.contains("Connection refused")) { // which a slow machine has no time to find out
            CompletableFuture<String> failure;
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                HostAddress address = new HostAddress("127.0.0.1", socket.getLocalPort());
                Membership member = new Membership("s", 1, 2, new Membership.Contact.Root(address, false), SECRET);
                failure = CompletableFuture.supplyAsync(
                        () -> messageOf(() -> BootstrapClient.join(member, address, TIMEOUTS, in(0.5))));
                socket.accept().close();
            }
            message = failure.get(20, TimeUnit.SECONDS);
        }
        assertTrue(message.contains("a process listened there earlier"), message);
    }

    /** What a client hears. */
    private static final class Heard implements Bootstrap.Events {
        final BlockingQueue<String> news = new LinkedBlockingQueue<>();
        final BlockingQueue<Integer> left = new LinkedBlockingQueue<>();

        @Override
        public void peerDied(int rank, String reason) {
            news.add("death of " + rank + ": " + reason);
        }

        @Override
        public void peerGaveUp(int rank, String reason) {
            news.add(rank + " gave up: " + reason);
        }

        @Override
        public void cannotOpen(String reason) {
            // exchanges fail with it
        }

        @Override
        public void givenUp(String reason) {
            news.add("given up: " + reason);
        }

        @Override
        public void newsLost(String reason) {
            news.add("lost: " + reason);
        }

        @Override
        public void peerLeft(int rank) {
            left.add(rank);
        }

        String next() throws InterruptedException {
            String next = news.poll(PATIENCE_S, TimeUnit.SECONDS);
            assertTrue(next != null, "nothing was heard for " + PATIENCE_S + " s");
            return next;
        }
    }

    /** Speaks the protocol by hand, so that it can misbehave. */
    private ControlConnection stranger(BootstrapServer server, int rank, int size) throws IOException {
        return stranger(server, rank, size, HostKey.ofThisNetwork());
    }

    private ControlConnection stranger(BootstrapServer server, int rank, int size, String host) throws IOException {
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
        ControlConnection connection = ControlHandshake.connect(socket, Secrets.controlKey(SECRET));
        opened.add(connection);
        connection.send(new ControlMessage.Hello("s", rank, size, host, 1));
        assertEquals(
                ControlMessage.Welcome.class, connection.receive().orElseThrow().getClass());
        return connection;
    }

    @Test
    void shouldTellADeathWhenAControlConnectionEndsWithoutFarewell() throws Exception {
        BootstrapServer server = server(2);
        Heard heard = new Heard();
        join(server, 0, 2).listen(heard);
        ControlConnection other = stranger(server, 1, 2);
        other.close();
        String news = heard.next();
        assertTrue(news.startsWith("death of 1: its process ended"), news);
    }

    @Test
    void shouldTellALateListenerOfADeathBefore() throws Exception {
        BootstrapServer server = server(2);
        BootstrapClient client = join(server, 0, 2);
        stranger(server, 1, 2).close();
        assertTrue(messageOf(() -> client.exchange("cards", new byte[0], in(PATIENCE_S)))
                .contains("rank 1 died"));
        Heard heard = new Heard();
        client.listen(heard);
        assertTrue(heard.next().startsWith("death of 1"));
    }

    @Test
    void shouldTellNoDeathAfterAFarewell() throws Exception {
        BootstrapServer server = server(3);
        Heard heard = new Heard();
        join(server, 0, 3).listen(heard);
        join(server, 1, 3).close();
        stranger(server, 2, 3).close();
        assertTrue(heard.next().startsWith("death of 2"), "only that of the one who did not say goodbye");
        assertEquals(1, heard.left.poll(PATIENCE_S, TimeUnit.SECONDS));
    }

    @Test
    void shouldSayThatTheLauncherIsGone() throws Exception {
        BootstrapServer server = server(1);
        Heard heard = new Heard();
        join(server, 0, 1).listen(heard);
        server.close();
        String news = heard.next();
        assertTrue(news.startsWith("lost: the launcher is gone"), news);
    }

    @Test
    void shouldReportTheDeathOfTheRankThatServes() throws Exception {
        BootstrapServer server = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(2, SECRET, 0, PEER_TIMEOUT_NS));
        opened.add(server);
        stranger(server, 0, 2);
        Heard heard = new Heard();
        join(server, 1, 2).listen(heard);
        server.close();
        String news = heard.next();
        assertTrue(news.startsWith("death of 0"), news);
    }

    @Test
    void shouldFailAtOnceWhenAnotherGivesUp() throws Exception {
        BootstrapServer server = server(2);
        BootstrapClient zero = join(server, 0, 2);
        join(server, 1, 2).abort("no shared memory");
        String message = messageOf(() -> zero.exchange("cards", new byte[0], in(PATIENCE_S)));
        assertTrue(message.contains("rank 1 could not open the session: no shared memory"), message);
    }

    @Test
    void shouldTellALateComerThatTheSessionFailed() throws Exception {
        BootstrapServer server = server(3);
        join(server, 0, 3);
        join(server, 1, 3).abort("no shared memory");
        String message = messageOf(() -> join(server, 2, 3).exchange("cards", new byte[0], in(PATIENCE_S)));
        assertTrue(message.contains("no shared memory"), message);
    }

    @Test
    void shouldFailAtOnceWhenAProcessEndsBeforeItJoins() throws Exception {
        BootstrapServer server = server(3);
        BlockingQueue<Integer> missed = new LinkedBlockingQueue<>();
        server.onMissed(missed::add);
        BootstrapClient zero = join(server, 0, 3);
        server.processEnded(2, 4711, "its process ended by signal 9");
        String why = "rank 2 died: its process ended by signal 9 before it joined";
        String message = messageOf(() -> zero.exchange("cards", new byte[0], in(PATIENCE_S)));
        assertTrue(message.contains(why), message);
        String late = messageOf(() -> join(server, 1, 3).exchange("cards", new byte[0], in(PATIENCE_S)));
        assertTrue(late.contains(why), late);
        assertEquals(2, missed.take());
        assertTrue(missed.isEmpty(), "told once per session");
    }

    @Test
    void shouldFailAtOnceWhenASessionIsOpenedLaterThanAProcessEnds() throws Exception {
        BootstrapServer server = server(3);
        BlockingQueue<Integer> missed = new LinkedBlockingQueue<>();
        server.onMissed(missed::add);
        try (BootstrapClient before = join(server, 1, 3)) {
            assertNotEquals("", before.sessionId());
        }
        server.processEnded(1, 4711, "its process ended with exit code 0");
        assertTrue(missed.isEmpty(), "it has been in the only session");
        Membership other = member(server, "t", 0, 3, SECRET);
        String message = messageOf(() -> join(server, other).exchange("cards", new byte[0], in(PATIENCE_S)));
        assertTrue(message.contains("rank 1 died: its process ended with exit code 0 before it joined"), message);
        assertEquals(1, missed.take());
        server.processEnded(0, 4710, "its process ended with exit code 0");
        Membership last = member(server, "u", 2, 3, SECRET);
        String third = messageOf(() -> join(server, last).exchange("cards", new byte[0], in(PATIENCE_S)));
        assertTrue(third.contains("rank 1 died"), "the first is why rank 0 ended, too: " + third);
        String refused = messageOf(() -> join(server, member(server, "t", 1, 3, SECRET)));
        assertTrue(refused.contains("rank 1: its process ended with exit code 0"), refused);
    }

    @Test
    @Tag("measures")
    void shouldSayAtTheDeadlineWhoWasRefusedAndWhy() throws Exception {
        BootstrapServer server = server(2);
        server.serveOnly("s");
        BootstrapClient zero = join(server, 0, 2);
        messageOf(() -> join(server, member(server, "t", 1, 2, SECRET)));
        String message = messageOf(() -> zero.exchange("told their names", new byte[1], in(0.1)));
        assertTrue(
                message.contains("rank 1 has not joined; process "
                        + ProcessHandle.current().pid() + " on "),
                message);
        assertTrue(message.contains("as rank 1, was refused: this server serves session s, not t"), message);
    }

    @Test
    void shouldSurviveGarbageOnItsPort() throws Exception {
        BootstrapServer server = server(1);
        Random random = new Random(42);
        for (int i = 0; i < 50; i++) {
            try (Socket socket = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort())) {
                byte[] garbage = new byte[random.nextInt(300)];
                random.nextBytes(garbage);
                socket.getOutputStream().write(garbage);
            } catch (IOException _) {
                // the server may close before all is written
            }
        }
        assertArrayEquals(
                new byte[] {7},
                join(server, 0, 1)
                        .exchange("still", new byte[] {7}, in(PATIENCE_S))
                        .getFirst());
    }

    /** As many as there are places, and more, that say nothing, or so little that no single read takes long. */
    @Test
    @Tag("measures")
    void shouldLetMembersJoinWhileStrangersHoldAllPlaces() throws Exception {
        BootstrapServer server = server(1);
        List<Socket> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                strangers.add(new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort()));
            }
            long beginNs = System.nanoTime();
            BootstrapClient member = join(server, 0, 1);
            assertArrayEquals(
                    new byte[] {7},
                    member.exchange("still", new byte[] {7}, in(PATIENCE_S)).getFirst());
            assertTrue(System.nanoTime() - beginNs < TimeUnit.SECONDS.toNanos(4), "the places were kept");
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldEndAHandshakeThatComesByteByByte() throws Exception {
        BootstrapServer server = server(1);
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            long beginNs = System.nanoTime();
            byte[] greeting =
                    ByteBuffer.allocate(72).putInt(0x4D414443).putInt(2).array();
            socket.setSoTimeout(500);
            InputStream in = socket.getInputStream();
            in.readNBytes(40);
            for (int i = 0; i < 30; i++) {
                try {
                    socket.getOutputStream().write(greeting, i, 1);
                    if (in.read() < 0) {
                        break;
                    }
                } catch (java.net.SocketTimeoutException _) {
                    // it still waits
                } catch (IOException _) {
                    break;
                }
            }
            long tookNs = System.nanoTime() - beginNs;
            assertTrue(tookNs < TimeUnit.SECONDS.toNanos(9), () -> "ended after " + tookNs + " ns");
        }
    }

    @Test
    void shouldCloseTheConnectionOnAnOversizedFrame() throws Exception {
        for (int length : new int[] {ControlMessage.MAX_FRAME_BYTES + 1, -1, 0, Integer.MAX_VALUE}) {
            BootstrapServer server = server(2);
            Heard heard = new Heard();
            join(server, 0, 2).listen(heard);
            RawMember raw = new RawMember(server);
            raw.socket
                    .getOutputStream()
                    .write(ByteBuffer.allocate(4).putInt(length).array());
            assertTrue(heard.next().startsWith("death of 1: its control connection was lost: a control message of"));
            raw.socket.close();
        }
    }

    @Test
    void shouldSurviveRandomFramesOfAMember() throws Exception {
        Random random = new Random(4711);
        for (int i = 0; i < 10_000; i++) {
            byte[] frame = new byte[1 + random.nextInt(60)];
            random.nextBytes(frame);
            frame[0] = (byte) (1 + random.nextInt(14));
            try {
                ControlMessage.decode(frame);
            } catch (IOException _) {
                // refused, which is right; anything else would fail the test
            }
        }
        BootstrapServer server = server(2);
        Heard heard = new Heard();
        join(server, 0, 2).listen(heard);
        RawMember raw = new RawMember(server);
        raw.socket.getOutputStream().write(new byte[] {0, 0, 0, 2, 99, 99});
        raw.socket.getOutputStream().write(new byte[Proofs.BYTES]);
        assertTrue(heard.next().contains("a control message is not as the other end sent it"));
        raw.socket.close();
    }

    /** A member after its handshake, with its bare socket. */
    private static final class RawMember {
        final Socket socket;

        RawMember(BootstrapServer server) throws IOException {
            socket = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort());
            ControlConnection connection = ControlHandshake.connect(socket, Secrets.controlKey(SECRET));
            connection.send(new ControlMessage.Hello("s", 1, 2, HostKey.ofThisNetwork(), 1));
            connection.receive();
        }
    }

    @Test
    void shouldDeclareASilentProcessOfAnotherHostDead() throws Exception {
        BootstrapServer server = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(2, SECRET, -1, TimeUnit.MILLISECONDS.toNanos(400)));
        opened.add(server);
        Heard heard = new Heard();
        Membership zero = member(server, "s", 0, 2, SECRET);
        BootstrapClient client =
                BootstrapClient.join(zero, at(server), timeouts(TimeUnit.MILLISECONDS.toNanos(400)), in(PATIENCE_S));
        opened.add(client);
        client.listen(heard);
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
        ControlConnection silent = ControlHandshake.connect(socket, Secrets.controlKey(SECRET));
        opened.add(silent);
        silent.send(new ControlMessage.Hello("s", 1, 2, "another host", 1));
        String news = heard.next();
        assertTrue(news.contains("death of 1: it gave no sign for") && news.contains("madeleine.peer-timeout"), news);
    }

    /** It may be alive: then it has to know. */
    @Test
    void shouldTellAProcessThatItIsTakenForDead() throws Exception {
        BootstrapServer server = server(2);
        Heard heard = new Heard();
        join(server, 0, 2).listen(heard);
        Heard other = new Heard();
        join(server, 1, 2).listen(other);
        server.processEnded(0, 1, "it cannot be heard");
        assertEquals("given up: it cannot be heard", heard.next());
        assertEquals("death of 0: it cannot be heard", other.next());
    }

    /** A process that lives is not told to be dead. */
    @Test
    void shouldTellAProcessThatAPeerHasLostItsConnectionToIt() throws Exception {
        BootstrapServer server = server(2);
        Bootstrap first = join(server, 0, 2);
        Bootstrap second = join(server, 1, 2);
        Heard heard = new Heard();
        first.listen(heard);
        second.lost(0, "the line is cut");
        String said =
                "1 gave up: it has given this process up: it has lost its connection with this process: the line is cut";
        assertEquals(said, heard.next());
        Heard late = new Heard();
        first.listen(late);
        assertEquals(said, late.next());
    }

    @Test
    void shouldNeverDeclareASilentProcessOfItsOwnHostDead() throws Exception {
        BootstrapServer server = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(2, SECRET, -1, TimeUnit.MILLISECONDS.toNanos(300)));
        opened.add(server);
        Heard heard = new Heard();
        join(server, 0, 2).listen(heard);
        stranger(server, 1, 2);
        assertEquals(null, heard.news.poll(1200, TimeUnit.MILLISECONDS));
    }

    /**
     * A process that does not read, as one that is stopped, takes part in exchanges of more bytes than the buffers of
     * its connection hold. It is silent only when the others have ended the last one, which may take them long.
     */
    private List<BootstrapClient> exchangeWithOneThatDoesNotRead(BootstrapServer server, String host) throws Exception {
        int rounds = 100;
        byte[] value = new byte[ControlMessage.MAX_VALUE_BYTES];
        List<BootstrapClient> others = List.of(join(server, 0, 3), join(server, 1, 3));
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.connect(server.address());
        ControlConnection stopped = ControlHandshake.connect(socket, Secrets.controlKey(SECRET));
        opened.add(stopped);
        stopped.send(new ControlMessage.Hello("s", 2, 3, host, 1));
        CountDownLatch exchanged = new CountDownLatch(1);
        Thread signs = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < rounds; i++) {
                stopped.trySend(new ControlMessage.Put("round " + i, value));
            }
            while (!isOver(exchanged, 100)) {
                stopped.trySend(new ControlMessage.Heartbeat());
            }
        });
        List<Callable<Boolean>> exchanges = new ArrayList<>();
        for (BootstrapClient other : others) {
            exchanges.add(() -> {
                for (int i = 0; i < rounds; i++) {
                    assertEquals(
                            3,
                            other.exchange("round " + i, value, in(PATIENCE_S)).size());
                }
                return true;
            });
        }
        TestSessions.all(exchanges);
        exchanged.countDown();
        signs.join();
        return others;
    }

    private static boolean isOver(CountDownLatch latch, long waitMs) {
        try {
            return latch.await(waitMs, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldServeTheOthersWhileAStoppedProcessReadsNothing() throws Exception {
        List<BootstrapClient> others = exchangeWithOneThatDoesNotRead(server(3), HostKey.ofThisNetwork());
        Heard heard = new Heard();
        others.getFirst().listen(heard);
        others.getLast().close();
        assertEquals(1, heard.left.poll(20, TimeUnit.SECONDS));
    }

    @Test
    @Tag("measures")
    void shouldDeclareASilentProcessDeadThatReadsNothing() throws Exception {
        BootstrapServer server = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(3, SECRET, -1, TimeUnit.SECONDS.toNanos(3)));
        opened.add(server);
        Heard heard = new Heard();
        exchangeWithOneThatDoesNotRead(server, "another host").getFirst().listen(heard);
        String news = heard.news.poll(30, TimeUnit.SECONDS);
        assertTrue(news != null && news.startsWith("death of 2: it gave no sign for"), "" + news);
    }

    /** Lets a process announce its exit and end; returns what the server says about it when its launcher asks. */
    private Optional<String> afterExit(int serverRank, String host) throws Exception {
        BootstrapServer server = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(2, SECRET, serverRank, PEER_TIMEOUT_NS));
        opened.add(server);
        Heard heard = new Heard();
        join(server, 0, 2).listen(heard);
        ControlConnection exiting = stranger(server, 1, 2, host);
        exiting.send(new ControlMessage.Exiting(1));
        exiting.close();
        assertTrue(heard.next().startsWith("death of 1: it exited without closing its session"));
        Optional<String> wrong = server.processEnded(1, 1, "its process ended");
        assertEquals(Optional.empty(), server.processEnded(1, 1, "its process ended"), "it is told once");
        return wrong;
    }

    @Test
    void shouldKeepWhatAnExitedProcessDidForItsLauncherAlone() throws Exception {
        String here = HostKey.ofThisNetwork();
        String wrong = afterExit(-1, here).orElseThrow();
        assertTrue(wrong.startsWith("rank 1 exited without closing its session (process 1 on "), wrong);
        assertEquals(Optional.empty(), afterExit(-1, "another host"), "a launcher has no process there");
        assertEquals(Optional.empty(), afterExit(0, here), "there is no launcher");
    }

    @Test
    void shouldEndWhatIsStartedForARequestThatIsGivenUp() throws Exception {
        BootstrapServer server = server(1);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch givenUp = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        server.launchBy(_ -> {
            asked.countDown();
            awaitQuietly(givenUp);
            return new LaunchedGroup() {
                @Override
                public List<LaunchedProcess> launched() {
                    return List.of(new LaunchedProcess(0, 4711, new CompletableFuture<>()));
                }

                @Override
                public void stopBeside() {
                    stopped.countDown();
                }
            };
        });
        BootstrapClient client = join(server, 0, 1);
        LaunchSpec spec = new LaunchSpec(1, List.of("program"), Map.of());
        Thread caller = Thread.ofPlatform().daemon().start(() -> {
            assertThrows(WaitInterruptedException.class, () -> client.launch(spec));
            givenUp.countDown();
        });
        assertTrue(asked.await(20, TimeUnit.SECONDS));
        caller.interrupt();
        assertTrue(stopped.await(20, TimeUnit.SECONDS), "nobody ends what nobody knows of");
        assertEquals(1, client.exchange("still", new byte[1], in(20)).size(), "a late answer is no error");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        assertTrue(isOver(latch, 20_000));
    }

    @Test
    void shouldWaitForAServerThatStartsLater() throws Exception {
        int port = TestSessions.freePort();
        HostAddress address = new HostAddress("127.0.0.1", port);
        Membership member = new Membership("s", 0, 1, new Membership.Contact.Launcher(address), SECRET);
        CompletableFuture<BootstrapClient> joining =
                CompletableFuture.supplyAsync(() -> BootstrapClient.join(member, address, TIMEOUTS, in(PATIENCE_S)));
        Thread.sleep(300);
        opened.add(new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                new BootstrapServer.Settings(1, SECRET, -1, PEER_TIMEOUT_NS)));
        opened.add(joining.get(PATIENCE_S, TimeUnit.SECONDS));
    }

    @Test
    void shouldTellNothingToWhoDoesNotKnowTheSecret() throws Exception {
        BootstrapServer server = server(1);
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            byte[] greeting =
                    ByteBuffer.allocate(72).putInt(0x4D414443).putInt(2).array();
            socket.getOutputStream().write(greeting);
            InputStream in = socket.getInputStream();
            in.readNBytes(40);
            assertEquals(2, in.read(), "the verdict");
            assertArrayEquals(new byte[32], in.readNBytes(32), "no proof for strangers");
            assertEquals(-1, in.read());
        }
    }

    private BootstrapServer port() throws IOException {
        BootstrapServer port = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(BootstrapServer.ANY_SIZE, SECRET, 0, PEER_TIMEOUT_NS));
        opened.add(port);
        return port;
    }

    @Test
    void shouldTellAllWhoWaitAtAPortThatItIsClosed() throws Exception {
        BootstrapServer port = port();
        BootstrapClient zero = join(port, 0, 3);
        BootstrapClient two = join(port, 2, 3);
        BootstrapClient other = join(port, member(port, "other", 1, 2, SECRET));
        port.closePort("it has closed its port");
        for (BootstrapClient waiting : List.of(zero, two, other)) {
            String message = messageOf(() -> waiting.exchange("told their names", new byte[1], in(PATIENCE_S)));
            assertTrue(message.contains("it has closed its port"), message);
        }
    }

    @Test
    void shouldOpenToItsEndASessionWhoseProcessesAreAllAtThePortThatCloses() throws Exception {
        BootstrapServer port = port();
        BootstrapClient zero = join(port, 0, 2);
        BootstrapClient one = join(port, 1, 2);
        port.closePort("it has closed its port");
        TestSessions.all(List.of(
                () -> zero.exchange("told their names", new byte[1], in(20)),
                () -> one.exchange("told their names", new byte[1], in(20))));
    }

    @Test
    void shouldSayAtOnceThatItsOwnPortIsClosed() throws Exception {
        BootstrapServer port = port();
        Membership root = new Membership("s", 0, 2, new Membership.Contact.Root(at(port), true), SECRET);
        port.closePort("it has closed its port");
        TestSessions.awaitRefusal(port.address());
        String message = messageOf(() -> BootstrapClient.join(root, at(port), TIMEOUTS, in(PATIENCE_S)));
        assertTrue(message.contains("the port at " + at(port) + " is closed"), message);
    }

    @Test
    @Tag("measures")
    void shouldNameWhoElseWaitsAtAPort() throws Exception {
        BootstrapServer port = port();
        BootstrapClient zero = join(port, 0, 2);
        join(port, member(port, "s", 1, 3, SECRET));
        join(port, member(port, "misspelt", 1, 2, SECRET));
        String message = messageOf(() -> zero.exchange("told their names", new byte[1], in(0.1)));
        assertTrue(message.contains("rank 1 has not joined"), message);
        assertTrue(
                message.contains("others wait at this port: session misspelt of 2 processes (rank 1),"
                        + " session s of 3 processes (rank 1)"),
                message);
    }

    @Test
    @Tag("measures")
    void shouldTakeWhatCompletesWhileItAsksWhoIsMissing() throws Exception {
        BootstrapServer server = server(2);
        BootstrapClient zero = join(server, 0, 2);
        BootstrapClient one = join(server, 1, 2);
        String early = messageOf(() -> zero.exchange("told their names", new byte[1], in(0)));
        assertTrue(early.contains("rank 1 (process") && !early.contains("rank 0 (process"), early);
        assertEquals(2, one.exchange("told their names", new byte[1], in(0)).size());
    }
}
