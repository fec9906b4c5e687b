package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Proofs;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the members of a session are told, and what they are not told; the test is all members, and the server. A member
 * that is told nothing finds the answer to its next question first.
 */
@Timeout(30)
class BootstrapSessionTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(600);
    private static final String HERE = HostKey.ofThisNetwork();
    private static final String ELSEWHERE = "another host";

    private final List<Member> all = new ArrayList<>();

    /** What the session has told its server. */
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    private volatile OptionalInt exitCode = OptionalInt.empty();

    private final BootstrapSession.Server server = new BootstrapSession.Server() {
        @Override
        public void processLost() {
            heard.add("lost");
        }

        @Override
        public OptionalInt exitCode(long pid) {
            heard.add("code of " + pid);
            return exitCode;
        }

        @Override
        public void launch(ControlMessage.Launch request, ControlSender sender) {
            throw new IllegalStateException("launch " + request.id());
        }

        @Override
        public void launchGivenUp(ControlMessage.LaunchGivenUp request, ControlSender sender) {
            sender.send(new ControlMessage.Launched(request.id(), new long[0], "given up"));
        }

        @Override
        public void exitedInside(int rank, Exit exit) {
            heard.add("rank " + rank + " exited");
        }

        @Override
        public void aborted(ControlMessage.SessionAbort end) {
            heard.add(end.toString());
        }

        @Override
        public String rejection() {
            return "; one was refused";
        }

        @Override
        public String othersWaiting(BootstrapSession session) {
            return "; others wait";
        }
    };

    /** A member's end of its connection; the session's end has a thread that serves it. */
    private final class Member {
        private final int rank;
        private final ControlConnection own;
        private final ControlSender sender;
        private final CompletableFuture<Void> served = new CompletableFuture<>();

        Member(BootstrapSession session, int rank, int size, String host) throws IOException {
            this.rank = rank;
            ControlConnection other;
            try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                Socket socket = new Socket(listening.getInetAddress(), listening.getLocalPort());
                byte[] key = new byte[Proofs.BYTES];
                own = new ControlConnection(socket, key, key);
                other = new ControlConnection(listening.accept(), key, key);
            }
            own.receiveTimeoutMs(20_000);
            sender = new ControlSender(other, task -> Thread.ofVirtual().unstarted(task));
            session.admit(sender, new ControlMessage.Hello("s", rank, size, host, pid(rank)));
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    session.serve(rank, other, sender);
                    served.complete(null);
                } catch (Throwable e) {
                    served.completeExceptionally(e);
                } finally {
                    sender.close();
                    other.close();
                }
            });
            all.add(this);
            ControlMessage.Welcome welcome = assertInstanceOf(ControlMessage.Welcome.class, next());
            assertEquals("the id", welcome.sessionId());
            assertEquals(HERE, welcome.serverHost());
            assertEquals(ProcessHandle.current().pid(), welcome.serverPid());
        }

        void send(ControlMessage message) throws IOException {
            own.send(message);
        }

        ControlMessage next() throws IOException {
            return own.receive().orElseThrow();
        }

        void hears(ControlMessage expected) throws IOException {
            assertEquals(expected, next(), () -> "rank " + rank);
        }

        void hearsDeath(int of, String why) throws IOException {
            ControlMessage.Death death = assertInstanceOf(ControlMessage.Death.class, next());
            assertEquals(of, death.rank());
            assertTrue(death.reason().contains(why), death::reason);
        }

        /** Asks who is missing: nothing else has been sent before the answer. */
        String hearsOnlyTheAnswer() throws IOException {
            send(new ControlMessage.MissingQuery("met"));
            ControlMessage.MissingReply reply = assertInstanceOf(ControlMessage.MissingReply.class, next());
            assertEquals("met", reply.key());
            return reply.who();
        }

        void hearsTheEnd() {
            assertThrows(EOFException.class, this::next);
        }
    }

    private static long pid(int rank) {
        return 100 + rank;
    }

    private BootstrapSession session(int size, int serverRank, long peerTimeoutNs) {
        return new BootstrapSession(
                "the id", size, new BootstrapServer.Settings(size, "secret", serverRank, peerTimeoutNs), server);
    }

    private BootstrapSession session(int size) {
        return session(size, -1, LONG_NS);
    }

    @AfterEach
    void close() {
        all.forEach(member -> member.own.close());
    }

    private String heard() throws InterruptedException {
        String next = heard.poll(20, TimeUnit.SECONDS);
        assertNotNull(next, "the server is told nothing");
        return next;
    }

    @Test
    void shouldSendEachValueToAllAndNoEmptyOne() throws Exception {
        BootstrapSession session = session(2);
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, ELSEWHERE);
        for (int round = 0; round < 2; round++) { // the same key may come again
            one.send(new ControlMessage.Put("met", new byte[] {7}));
            String missing = one.hearsOnlyTheAnswer();
            assertEquals("rank 0 (process 100) has not reached this step", missing);
            zero.send(new ControlMessage.Put("met", new byte[0]));
            for (Member member : List.of(zero, one)) {
                ControlMessage.Value value = assertInstanceOf(ControlMessage.Value.class, member.next());
                assertEquals("met of 1", value.key() + " of " + value.rank());
                assertArrayEquals(new byte[] {7}, value.value());
                member.hears(new ControlMessage.Complete("met"));
            }
        }
    }

    @Test
    void shouldGiveUpAProcessThatContributesTwice() throws Exception {
        BootstrapSession session = session(2);
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, HERE);
        one.send(new ControlMessage.Put("met", new byte[1]));
        one.send(new ControlMessage.Put("met", new byte[1]));
        String why = "its control connection was lost: it contributed twice to the exchange \"met\"";
        zero.hearsDeath(1, why);
        one.hearsDeath(1, why);
        one.hearsTheEnd();
        assertEquals("code of 101", heard());
        assertEquals("lost", heard());
    }

    @Test
    void shouldNameWhoIsMissingWhoIsGoneAndWhoElseWaitsUntilAllHaveJoined() throws Exception {
        BootstrapSession session = session(3);
        Member zero = new Member(session, 0, 3, HERE);
        Member one = new Member(session, 1, 3, HERE);
        one.send(new ControlMessage.Leave());
        zero.hears(new ControlMessage.Left(1));
        one.hearsTheEnd();
        assertEquals(
                "rank 0 (process 100) has not reached this step, rank 1 is gone, rank 2 has not joined;"
                        + " one was refused; others wait",
                zero.hearsOnlyTheAnswer());
        Member two = new Member(session, 2, 3, HERE);
        two.hears(new ControlMessage.Left(1));
        two.send(new ControlMessage.Put("met", new byte[1]));
        assertEquals(
                "rank 0 (process 100) has not reached this step, rank 1 is gone",
                two.hearsOnlyTheAnswer(),
                "all have been there");
    }

    @Test
    void shouldGiveUpAProcessThatSendsWhatOnlyAServerMaySend() throws Exception {
        BootstrapSession session = session(2);
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, HERE);
        one.send(new ControlMessage.Left(0));
        zero.hearsDeath(1, "it sent a message that only a server may send: left");
        assertFalse(session.isPresent(1));
        assertTrue(session.isPresent(0));
    }

    @Test
    void shouldTellOfALostConnectionAnotherMemberThatIsThereAndNobodyElse() throws Exception {
        BootstrapSession session = session(4);
        Member zero = new Member(session, 0, 4, HERE);
        Member one = new Member(session, 1, 4, HERE);
        Member two = new Member(session, 2, 4, HERE);
        two.send(new ControlMessage.Leave());
        zero.hears(new ControlMessage.Left(2));
        one.hears(new ControlMessage.Left(2));
        for (int about : new int[] {-1, 1, 2, 3, 4, Integer.MAX_VALUE, 0}) {
            one.send(new ControlMessage.Death(about, "cut " + about));
        }
        zero.hears(new ControlMessage.PeerGaveUp(
                1, "it has given this process up: it has lost its connection with this process: cut 0"));
        zero.hearsOnlyTheAnswer();
        one.hearsOnlyTheAnswer();
    }

    @Test
    void shouldTellAllOnceThatTheSessionIsAborted() throws Exception {
        BootstrapSession session = session(3);
        Member zero = new Member(session, 0, 3, HERE);
        Member one = new Member(session, 1, 3, HERE);
        one.send(new ControlMessage.SessionAbort(-1, 3, "enough"));
        ControlMessage.SessionAbort end = new ControlMessage.SessionAbort(1, 3, "enough");
        zero.hears(end);
        one.hears(end);
        assertEquals(end.toString(), heard());
        zero.send(new ControlMessage.SessionAbort(-1, 4, "later"));
        zero.hearsOnlyTheAnswer();
        one.hearsOnlyTheAnswer();
        assertEquals(Optional.empty(), session.waiting());
        new Member(session, 2, 3, HERE).hears(end);
        one.send(new ControlMessage.Leave());
        one.hearsTheEnd();
        zero.hearsOnlyTheAnswer();
        assertEquals(0, heard.size(), heard::toString);
    }

    @Test
    void shouldTellTheProcessThatRunsTheServerOnceToo() throws Exception {
        BootstrapSession session = session(2, 0, LONG_NS);
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, HERE);
        zero.send(new ControlMessage.Exiting(-1));
        one.hears(new ControlMessage.Exiting(0));
        zero.hears(new ControlMessage.Exiting(0));
        one.send(new ControlMessage.Exiting(-1));
        one.hearsOnlyTheAnswer();
        zero.hearsOnlyTheAnswer();
        one.send(new ControlMessage.SessionAbort(-1, 3, "enough"));
        for (Member member : List.of(zero, one)) {
            member.hears(new ControlMessage.SessionAbort(1, 3, "enough"));
            member.hearsOnlyTheAnswer();
        }
    }

    @Test
    void shouldNotTellAServersProcessThatHasLeft() throws Exception {
        BootstrapSession session = session(2, 0, LONG_NS);
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, HERE);
        zero.send(new ControlMessage.Leave());
        one.hears(new ControlMessage.Left(0));
        zero.served.get(20, TimeUnit.SECONDS);
        one.send(new ControlMessage.SessionAbort(-1, 3, "enough"));
        one.hears(new ControlMessage.SessionAbort(1, 3, "enough"));
        zero.hearsTheEnd();
    }

    /** How the end of a member's connection is told. */
    private void checkEnd(String host, boolean announces, OptionalInt code, String why, String... told)
            throws Exception {
        exitCode = code;
        BootstrapSession session = session(2);
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, host);
        if (announces) {
            one.send(new ControlMessage.Exiting(-1));
        }
        one.own.close();
        zero.hearsDeath(1, why);
        for (String each : told) {
            assertEquals(each, heard());
        }
        assertEquals("lost", heard());
        assertEquals(0, heard.size(), heard::toString);
        session.lost(1, "again");
        zero.hearsOnlyTheAnswer();
    }

    @Test
    void shouldTellHowAProcessEndedWhoseConnectionHasEnded() throws Exception {
        checkEnd(
                HERE, false, OptionalInt.empty(), "its process ended (it closed its control connection", "code of 101");
        checkEnd(HERE, true, OptionalInt.empty(), "it exited without closing", "code of 101", "rank 1 exited");
        checkEnd(HERE, false, OptionalInt.of(5), "exit code 5)", "code of 101", "rank 1 exited");
        checkEnd(HERE, false, OptionalInt.of(137), "its process ended by signal 9", "code of 101");
        checkEnd(ELSEWHERE, true, OptionalInt.of(5), "it exited without closing its session (process 101");
    }

    @Test
    void shouldTurnOutWhoWaitsForOthersAndNobodyElse() throws Exception {
        BootstrapSession waiting = session(3);
        Member zero = new Member(waiting, 0, 3, HERE);
        Member one = new Member(waiting, 1, 3, HERE);
        assertTrue(suits(waiting, 2, 3));
        waiting.turnOut("the port is closed");
        waiting.turnOut("it is closed still");
        for (Member member : List.of(zero, one)) {
            member.hears(new ControlMessage.OpenFailed(0, "the port is closed"));
            member.hearsOnlyTheAnswer();
        }
        assertTrue(suits(waiting, 2, 3), "it hears why");
        new Member(waiting, 2, 3, HERE).hears(new ControlMessage.OpenFailed(0, "the port is closed"));

        BootstrapSession full = session(1);
        Member alone = new Member(full, 0, 1, HERE);
        full.turnOut("the port is closed");
        alone.hearsOnlyTheAnswer();
    }

    private static boolean suits(BootstrapSession session, int rank, int size) {
        return session.suits(new ControlMessage.Hello("s", rank, size, HERE, 1));
    }

    @Test
    void shouldSuitWhoIsOfItsSizeAndNotThereYet() throws Exception {
        BootstrapSession session = session(3);
        new Member(session, 1, 3, HERE);
        assertTrue(suits(session, 0, 3) && suits(session, 2, 3));
        assertFalse(suits(session, 0, 2) || suits(session, 0, 4), "another size");
        assertFalse(suits(session, 1, 3), "it is there");
        session.turnOut("closed");
        assertFalse(suits(session, 0, 3), "it begins a session of its own");
    }

    @Test
    void shouldTellOnceThatAProcessEndedBeforeItJoined() throws Exception {
        BootstrapSession session = session(3);
        Member zero = new Member(session, 0, 3, HERE);
        assertFalse(session.isMissing(0, "it has joined"));
        assertTrue(session.isMissing(2, "it ended"));
        assertFalse(session.isMissing(1, "this one, too"));
        zero.hears(new ControlMessage.Death(2, "it ended"));
        zero.hearsOnlyTheAnswer();
    }

    @Test
    void shouldWaitUntilAProcessIsGoneAndForNoLongerThanItMay() throws Exception {
        BootstrapSession session = session(2);
        session.awaitGone(1, 60_000); // it has not been there
        Member zero = new Member(session, 0, 2, HERE);
        session.awaitGone(0, 1);
        assertTrue(session.isPresent(0));
        CompletableFuture<Boolean> gone = new CompletableFuture<>();
        Thread waiting = Thread.ofPlatform().daemon().start(() -> {
            session.awaitGone(0, 60_000);
            gone.complete(!session.isPresent(0));
        });
        while (waiting.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        zero.send(new ControlMessage.Leave());
        assertTrue(gone.get(20, TimeUnit.SECONDS));
        session.awaitGone(0, 60_000);
        Member one = new Member(session, 1, 2, HERE);
        Thread.currentThread().interrupt();
        session.awaitGone(1, 60_000);
        assertTrue(Thread.interrupted(), "an interrupt ends the wait, and stays");
        one.own.close();
    }

    @Test
    void shouldCountWhoIsAndWasThere() throws Exception {
        BootstrapSession session = session(2);
        assertTrue(session.isOver());
        Member zero = new Member(session, 0, 2, HERE);
        assertTrue(session.knows(0) && session.isPresent(0) && !session.knows(1) && !session.isPresent(1));
        assertEquals(100, session.pidOf(0));
        assertEquals(-1, session.pidOf(1));
        assertFalse(session.isFull() || session.isOver());
        Member one = new Member(session, 1, 2, HERE);
        assertTrue(session.isFull());
        zero.send(new ControlMessage.Leave());
        one.hears(new ControlMessage.Left(0));
        assertTrue(session.isFull() && session.knows(0) && !session.isPresent(0));
        assertFalse(session.isOver());
        one.send(new ControlMessage.OpenFailed(-1, "no memory"));
        one.served.get(20, TimeUnit.SECONDS);
        assertTrue(session.isOver());
    }

    @Test
    void shouldNameTheFirstEightWhoWait() throws Exception {
        BootstrapSession session = session(10);
        assertEquals(Optional.empty(), session.waiting(), "nobody waits");
        for (int rank = 0; rank < 8; rank++) {
            new Member(session, rank, 10, HERE);
        }
        String eight = "10 processes (rank 0, rank 1, rank 2, rank 3, rank 4, rank 5, rank 6, rank 7";
        assertEquals(Optional.of(eight + ")"), session.waiting());
        new Member(session, 8, 10, HERE);
        assertEquals(Optional.of(eight + ", ...)"), session.waiting());
        new Member(session, 9, 10, HERE);
        assertEquals(Optional.empty(), session.waiting(), "all are there");
    }

    @Test
    void shouldSendSignsOfLifeToOtherHostsAlone() throws Exception {
        BootstrapSession session = session(2, -1, TimeUnit.SECONDS.toNanos(3));
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, ELSEWHERE);
        one.hears(new ControlMessage.Heartbeat());
        one.send(new ControlMessage.Heartbeat());
        one.hears(new ControlMessage.Heartbeat());
        zero.hearsOnlyTheAnswer();
    }

    @Test
    @Tag("measures")
    void shouldGiveSignsInTimeWhileItHearsThoseOfAMember() throws Exception {
        BootstrapSession session = session(2, -1, TimeUnit.MILLISECONDS.toNanos(900)); // three signs in this time
        Member member = new Member(session, 1, 2, ELSEWHERE);
        SignsOfLifeTest.assertGivesSignsInTime(member.own);
    }

    @Test
    void shouldTellTheOthersThatAProcessCanNoLongerBeServed() throws Exception {
        BootstrapSession session = session(2);
        Member zero = new Member(session, 0, 2, HERE);
        Member one = new Member(session, 1, 2, HERE);
        one.send(new ControlMessage.LaunchGivenUp(5));
        assertEquals(
                5, assertInstanceOf(ControlMessage.Launched.class, one.next()).id());
        one.send(new ControlMessage.Launch(6, new byte[0]));
        zero.hearsDeath(
                1, "the bootstrap server could not serve it any more: java.lang.IllegalStateException: launch 6");
        ExecutionException thrown = assertThrows(ExecutionException.class, () -> one.served.get(20, TimeUnit.SECONDS));
        assertInstanceOf(IllegalStateException.class, thrown.getCause());
    }
}
