package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LaunchedProcess;
import io.madeleine.session.TestSessions;
import io.madeleine.session.config.Membership;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whom a server admits, whom it refuses, and what it does for its members; the test is all members. */
@Timeout(30)
class BootstrapServerTest {
    private static final String SECRET = "a secret";
    private static final String HERE = HostKey.ofThisNetwork();
    private static final long OWN_PID = ProcessHandle.current().pid();

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private BootstrapServer server(int size, int serverRank) throws IOException {
        BootstrapServer server = new BootstrapServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new BootstrapServer.Settings(size, SECRET, serverRank, TimeUnit.SECONDS.toNanos(600)));
        opened.add(server);
        return server;
    }

    private BootstrapServer port() throws IOException {
        return server(BootstrapServer.ANY_SIZE, 0);
    }

    /** A connection that has proved to know the secret, and has said nothing else. */
    private ControlConnection connect(BootstrapServer server) throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        ControlConnection connection = ControlHandshake.connect(socket, Secrets.controlKey(SECRET));
        connection.receiveTimeoutMs(20_000);
        opened.add(connection);
        return connection;
    }

    private static ControlMessage.Hello hello(String session, int rank, int size) {
        return new ControlMessage.Hello(session, rank, size, HERE, OWN_PID);
    }

    private ControlConnection greet(BootstrapServer server, ControlMessage.Hello hello) throws IOException {
        ControlConnection connection = connect(server);
        connection.send(hello);
        return connection;
    }

    private static ControlMessage next(ControlConnection connection) throws IOException {
        return connection.receive().orElseThrow();
    }

    private ControlConnection join(BootstrapServer server, ControlMessage.Hello hello) throws IOException {
        ControlConnection member = greet(server, hello);
        assertInstanceOf(ControlMessage.Welcome.class, next(member));
        return member;
    }

    private void checkRefuses(BootstrapServer server, ControlMessage.Hello hello, String why) throws IOException {
        ControlConnection connection = greet(server, hello);
        String reason =
                assertInstanceOf(ControlMessage.Refused.class, next(connection)).reason();
        assertTrue(reason.contains(why), reason);
        assertThrows(EOFException.class, () -> next(connection));
    }

    /** What it says about who is missing. */
    private static String missing(ControlConnection member) throws IOException {
        member.send(new ControlMessage.MissingQuery("met"));
        return assertInstanceOf(ControlMessage.MissingReply.class, next(member)).who();
    }

    @Test
    void shouldRefuseRanksAndSizesThatItsSessionsDoNotHave() throws Exception {
        BootstrapServer server = server(2, -1);
        checkRefuses(server, hello("s", -1, 2), "rank -1: expected 0 to 1");
        checkRefuses(server, hello("s", 2, 2), "rank 2: expected 0 to 1");
        checkRefuses(server, hello("s", 0, 3), "it expects 3 processes, the session has 2");
        join(server, hello("s", 0, 2));
        ControlConnection one = join(server, hello("s", 1, 2));
        assertEquals(
                "rank 0 (process " + OWN_PID + ") has not reached this step, rank 1 (process " + OWN_PID
                        + ") has not reached this step",
                missing(one));
        checkRefuses(server, hello("s", 1, 2), "rank 1 is in session s already, as process " + OWN_PID);
    }

    @Test
    void shouldRefuseRanksAndSizesThatNoSessionAtAPortHas() throws Exception {
        BootstrapServer port = port();
        checkRefuses(port, hello("s", 0, 0), "rank 0 of 0 processes");
        checkRefuses(port, hello("s", -1, 2), "rank -1 of 2 processes");
        checkRefuses(port, hello("s", 2, 2), "rank 2 of 2 processes");
        checkRefuses(port, hello("s", 1, Membership.MAX_SIZE + 1), "expected 0 to size-1");
        join(port, hello("s", 1, 2));
        join(port, hello("alone", 0, 1));
        join(port, hello("large", Membership.MAX_SIZE - 1, Membership.MAX_SIZE));
    }

    @Test
    void shouldLetNobodyElseBeRankZeroAtAPort() throws Exception {
        BootstrapServer port = port();
        String why = "rank 0 of a session that meets at a port is the port's process";
        checkRefuses(port, new ControlMessage.Hello("s", 0, 2, HERE, OWN_PID + 1), why);
        checkRefuses(port, new ControlMessage.Hello("s", 0, 2, "another host", OWN_PID), why);
        join(port, new ControlMessage.Hello("s", 1, 2, "another host", OWN_PID + 1));
        join(port, hello("s", 0, 2));
    }

    @Test
    void shouldRefuseWhoGreetsAPortThatHasBeenClosedMeanwhile() throws Exception {
        BootstrapServer port = port();
        ControlConnection waiting = join(port, hello("s", 1, 2));
        ControlConnection late = connect(port);
        port.closePort("it has its peers");
        assertEquals(new ControlMessage.OpenFailed(0, "it has its peers"), next(waiting));
        late.send(hello("s", 2, 3));
        assertEquals(new ControlMessage.Refused("the port is closed"), next(late));
        TestSessions.awaitRefusal(port.address());
    }

    @Test
    void shouldHangUpOnWhoSaysSomethingElseThanAGreeting() throws Exception {
        BootstrapServer server = server(1, -1);
        ControlConnection stranger = connect(server);
        stranger.send(new ControlMessage.Leave());
        assertThrows(EOFException.class, () -> next(stranger));
        join(server, hello("s", 0, 1));
    }

    @Test
    void shouldHangUpOnItsMembersWhenItIsClosed() throws Exception {
        BootstrapServer server = server(2, -1);
        ControlConnection member = join(server, hello("s", 0, 2));
        ControlConnection silent = connect(server);
        server.close();
        assertThrows(IOException.class, () -> next(member));
        assertThrows(IOException.class, () -> {
            silent.send(hello("s", 1, 2));
            next(silent);
        });
        TestSessions.awaitRefusal(server.address());
    }

    @Test
    void shouldNameAtMostFourSessionsThatWaitAtAPort() throws Exception {
        BootstrapServer port = port();
        ControlConnection zero = join(port, hello("mine", 0, 2));
        assertEquals(
                "rank 0 (process " + OWN_PID + ") has not reached this step, rank 1 has not joined", missing(zero));
        for (String name : List.of("d", "c", "b", "a")) {
            join(port, hello(name, 1, 2));
        }
        String four =
                "; others wait at this port: session a of 2 processes (rank 1), session b of 2 processes (rank 1),"
                        + " session c of 2 processes (rank 1), session d of 2 processes (rank 1)";
        assertTrue(missing(zero).endsWith(four));
        join(port, hello("e", 1, 2));
        assertTrue(missing(zero).endsWith(four + " and 1 more"));
    }

    @Test
    void shouldNotNameSessionsOfOthersUnlessItIsAPort() throws Exception {
        BootstrapServer server = server(2, -1);
        ControlConnection zero = join(server, hello("s", 0, 2));
        join(server, hello("t", 1, 2));
        assertTrue(missing(zero).endsWith("rank 1 has not joined"));
    }

    @Test
    void shouldStopListeningWhenItsOnlySessionIsComplete() throws Exception {
        BootstrapServer server = server(2, -1);
        server.serveOnly("s");
        checkRefuses(server, hello("t", 0, 2), "this server serves session s, not t");
        join(server, hello("s", 0, 2));
        ControlConnection one = join(server, hello("s", 1, 2));
        TestSessions.awaitRefusal(server.address());
        assertTrue(missing(one).contains("rank 0"), "the session goes on");
    }

    @Test
    void shouldCloseWhenItsOnlySessionIsOver() throws Exception {
        BootstrapServer server = server(2, -1);
        server.serveOnly("s");
        ControlConnection zero = join(server, hello("s", 0, 2));
        zero.send(new ControlMessage.Leave());
        assertThrows(EOFException.class, () -> next(zero));
        TestSessions.awaitRefusal(server.address());
    }

    @Test
    void shouldMakeAnotherSessionOfANameWhenTheFirstIsOver() throws Exception {
        BootstrapServer server = server(1, -1);
        String before = "";
        for (int round = 0; round < 3; round++) {
            ControlConnection member = greet(server, hello("s", 0, 1));
            String id =
                    assertInstanceOf(ControlMessage.Welcome.class, next(member)).sessionId();
            assertFalse(id.equals(before));
            assertEquals(24, id.length());
            before = id;
            member.send(new ControlMessage.Leave());
            assertThrows(EOFException.class, () -> next(member));
        }
    }

    /** Processes that somebody has started. */
    private record Group(List<LaunchedProcess> launched, BlockingQueue<String> stops) implements LaunchedGroup {
        @Override
        public void stopBeside() {
            stops.add("stopped");
        }
    }

    @Test
    void shouldStartProcessesForAMemberAndTellHowTheyEnd() throws Exception {
        BootstrapServer server = server(1, -1);
        ControlConnection member = join(server, hello("s", 0, 1));
        byte[] spec = new LaunchSpec(2, List.of("program"), Map.of()).encode();
        member.send(new ControlMessage.Launch(1, spec));
        ControlMessage.Launched none = assertInstanceOf(ControlMessage.Launched.class, next(member));
        assertEquals("1 nothing was launched: this server belongs to no launcher", none.id() + " " + none.failure());

        List<CompletableFuture<Integer>> exits = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        Group group = new Group(
                List.of(new LaunchedProcess(0, 11, exits.get(0)), new LaunchedProcess(1, 12, exits.get(1))),
                new LinkedBlockingQueue<>());
        server.launchBy(asked -> {
            assertEquals(List.of("program"), asked.command());
            return group;
        });
        member.send(new ControlMessage.Launch(2, spec));
        ControlMessage.Launched both = assertInstanceOf(ControlMessage.Launched.class, next(member));
        assertEquals(2, both.id());
        assertArrayEquals(new long[] {11, 12}, both.pids());
        exits.get(1).complete(3);
        assertEquals(new ControlMessage.LaunchedEnded(2, 1, 3), next(member));
        member.send(new ControlMessage.LaunchGivenUp(5)); // of another request
        member.send(new ControlMessage.LaunchGivenUp(2));
        missing(member);
        assertEquals(1, group.stops().size());
        exits.get(0).complete(4);
        assertEquals(new ControlMessage.LaunchedEnded(2, 0, 4), next(member));
        member.send(new ControlMessage.LaunchGivenUp(2));
        missing(member);
        assertEquals(1, group.stops().size(), "all have ended");
    }

    @Test
    void shouldKnowWhetherItHasLostAProcess() throws Exception {
        BootstrapServer server = server(3, -1);
        ControlConnection zero = join(server, hello("s", 0, 3));
        ControlConnection one = join(server, hello("s", 1, 3));
        one.send(new ControlMessage.Leave());
        assertEquals(new ControlMessage.Left(1), next(zero));
        assertFalse(server.hasLostProcess());
        join(server, hello("s", 2, 3)).close();
        assertEquals(2, assertInstanceOf(ControlMessage.Death.class, next(zero)).rank());
        assertTrue(server.hasLostProcess());
    }

    @Test
    void shouldTellByWhatCodeAProcessOfItsLauncherExited() throws Exception {
        BootstrapServer server = server(2, -1);
        server.exitsFrom(pid -> pid == OWN_PID ? OptionalInt.of(3) : OptionalInt.empty());
        ControlConnection zero = join(server, hello("s", 0, 2));
        join(server, hello("s", 1, 2)).close();
        String why = assertInstanceOf(ControlMessage.Death.class, next(zero)).reason();
        assertTrue(why.startsWith("it exited without closing its session") && why.endsWith("exit code 3)"), why);
        Optional<String> told = server.processEnded(1, OWN_PID, "its process ended");
        assertTrue(told.orElseThrow().startsWith("rank 1 exited without closing its session"), told::toString);
    }

    /** It has said so before it ended, and that is still on its way. */
    @Test
    void shouldTakeAProcessForOneThatHasLeftThoughItsEndIsKnownFirst() throws Exception {
        BootstrapServer server = server(2, -1);
        ControlConnection zero = join(server, hello("s", 0, 2));
        ControlConnection one = join(server, hello("s", 1, 2));
        one.send(new ControlMessage.Leave());
        assertEquals(Optional.empty(), server.processEnded(1, OWN_PID, "its process ended"));
        assertEquals(new ControlMessage.Left(1), next(zero));
    }

    @Test
    void shouldTellSessionsBeforeAndAfterThatAProcessEndedBeforeItJoined() throws Exception {
        BootstrapServer server = server(2, -1);
        BlockingQueue<Integer> missed = new LinkedBlockingQueue<>();
        server.onMissed(missed::add);
        ControlConnection first = join(server, hello("s", 0, 2));
        ControlConnection second = join(server, hello("t", 0, 2));
        server.processEnded(1, 4711, "it ended");
        ControlMessage.Death death = new ControlMessage.Death(1, "it ended before it joined");
        assertEquals(death, next(first));
        assertEquals(death, next(second));
        assertEquals(List.of(1, 1), List.copyOf(missed));
        checkRefuses(server, hello("s", 1, 2), "rank 1: it ended");
        assertEquals(death, next(join(server, hello("u", 0, 2))));
        assertEquals(3, missed.size());
    }

    @Test
    void shouldKeepNothingForALauncherThatThereIsNot() throws Exception {
        BootstrapServer server = server(2, 0);
        ControlConnection zero = join(server, hello("s", 0, 2));
        ControlConnection one = join(server, hello("s", 1, 2));
        one.send(new ControlMessage.Exiting(-1));
        one.close();
        assertEquals(1, assertInstanceOf(ControlMessage.Death.class, next(zero)).rank());
        assertEquals(Optional.empty(), server.processEnded(1, OWN_PID, "its process ended"));
    }

    @Test
    void shouldTellItsLauncherOfAnAbortBeforeItsMembers() throws Exception {
        BootstrapServer server = server(1, -1);
        BlockingQueue<String> ends = new LinkedBlockingQueue<>();
        server.onEnd(end -> ends.add(end.toString()));
        ControlConnection member = join(server, hello("s", 0, 1));
        member.send(new ControlMessage.SessionAbort(-1, 3, "enough"));
        ControlMessage end = next(member);
        assertEquals(end.toString(), ends.poll());
    }

    @Test
    void shouldSayWithoutItsSecretWhatItIs() {
        BootstrapServer.Settings launchers = new BootstrapServer.Settings(4, SECRET, -1, 1);
        assertEquals("4 processes, server in the launcher", launchers.toString());
        assertEquals("4 processes, server in rank 0", new BootstrapServer.Settings(4, SECRET, 0, 1).toString());
    }
}
