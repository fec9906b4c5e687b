package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.ConfigurationException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.LossKind;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import io.madeleine.api.SessionException;
import io.madeleine.session.bootstrap.Secrets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class SessionTest {
    private final List<Session> opened = new ArrayList<>();

    @AfterEach
    void everythingIsClosed() throws Exception {
        TestSessions.closeAll(opened);
        assertEquals(0, LoopProtocol.OPEN_ADAPTERS.get(), "adapters that were not closed");
    }

    private List<Session> open(int size) throws Exception {
        List<Session> sessions = TestSessions.openAll(size);
        opened.addAll(sessions);
        return sessions;
    }

    @Test
    void shouldBeASessionOfOneProcessWithoutSettings() {
        try (Session session = TestSessions.open(Map.of())) {
            assertEquals(0, session.rank());
            assertEquals(1, session.size());
            assertEquals(Set.of("default"), session.channelNames());
            assertSame(session, session.channel().session());
            assertThrows(IllegalArgumentException.class, () -> session.channel().beginPacking(0));
        }
    }

    @Test
    void shouldHaveAnIdOfItsOwnAndKeysThatOnlyItsSecretGives() throws Exception {
        List<Session> sessions = open(2);
        assertEquals(sessions.get(0).id(), sessions.get(1).id());
        String same = Secrets.generate();
        try (Session one = TestSessions.open(Map.of("madeleine.session.secret", same));
                Session two = TestSessions.open(Map.of("madeleine.session.secret", same));
                Session other = TestSessions.open(Map.of("madeleine.session.secret", Secrets.generate()))) {
            assertNotEquals(one.id(), two.id());
            assertArrayEquals(one.deriveKey("test"), two.deriveKey("test"));
            assertEquals(32, one.deriveKey("test").length);
            assertFalse(Arrays.equals(one.deriveKey("test"), other.deriveKey("test")));
            assertFalse(Arrays.equals(one.deriveKey("test"), one.deriveKey("tost")));
        }
        try (Session open = TestSessions.open(Map.of())) {
            ConfigurationException none = assertThrows(ConfigurationException.class, () -> open.deriveKey("test"));
            assertTrue(String.valueOf(none.getMessage()).contains("madeleine.session.secret"), none::toString);
        }
    }

    @Test
    void shouldCarryMessagesBetweenAllRanks() throws Exception {
        List<Session> sessions = open(3);
        List<Callable<Boolean>> programs = new ArrayList<>();
        for (Session session : sessions) {
            programs.add(() -> greetEverybody(session));
        }
        TestSessions.all(programs);
    }

    private static boolean greetEverybody(Session session) {
        Channel channel = session.channel();
        byte[] block = new byte[5000];
        for (int peer = 0; peer < session.size(); peer++) {
            if (peer != session.rank()) {
                assertEquals("loop", channel.network(peer));
                OutgoingMessage out = channel.beginPacking(peer);
                out.packInt(session.rank()).pack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                out.endPacking();
            }
        }
        for (int i = 1; i < session.size(); i++) {
            IncomingMessage in = channel.beginUnpacking();
            assertEquals(in.remote(), in.unpackInt());
            byte[] received = new byte[5000];
            in.unpack(received, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            in.endUnpacking();
            assertArrayEquals(block, received);
        }
        return true;
    }

    @Test
    void shouldNotOpenWhereAKeyDiffersThatNeedsTheSameValue() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.get(1).put("debug.self-described", true);
        List<Callable<SessionException>> openings = new ArrayList<>();
        for (Map<String, Object> one : settings) {
            openings.add(() -> assertThrows(SessionException.class, () -> TestSessions.open(one)));
        }
        List<SessionException> refusals = TestSessions.all(openings);
        for (int rank = 0; rank < 2; rank++) {
            String message = String.valueOf(refusals.get(rank).getMessage());
            assertTrue(message.contains("madeleine.debug.self-described is "), message);
            assertTrue(message.contains("false in rank 0") && message.contains("true in rank 1"), message);
            assertTrue(message.contains("it needs the same value in all processes"), message);
        }
    }

    @Test
    void shouldOpenChannelsOnNamedAdapters() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.forEach(one -> {
            one.put("channels.second.network", "loop");
            one.put("channels.second.adapter", "loop1");
        });
        opened.addAll(TestSessions.openAll(settings));
        assertEquals(Set.of("default", "second"), opened.getFirst().channelNames());
        assertEquals(4, LoopProtocol.OPEN_ADAPTERS.get());
    }

    @Test
    void shouldOpenTheSameHostsAgainAfterClosing() throws Exception {
        int port = TestSessions.freePort();
        for (int i = 0; i < 3; i++) {
            List<Session> sessions =
                    TestSessions.openAll(List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port)));
            TestSessions.closeAll(sessions);
        }
    }

    @Test
    void shouldSayWhichNetworksFailedWhenTwoRanksShareNone() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.get(1).put("tm.loop.unreachable", true);
        List<String> failures = failuresOf(settings);
        assertAll(
                () -> assertTrue(failures.get(1).contains("told so by tm.loop.unreachable"), failures.get(1)),
                () -> assertTrue(
                        failures.get(0).contains("share no network")
                                || failures.get(0).contains("rank 1 could not open"),
                        failures.get(0)));
    }

    @Test
    void shouldTellAllRanksWhenOneCannotConnect() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.get(1).put("tm.loop.refuse-connections", true);
        List<String> failures = failuresOf(settings);
        assertTrue(failures.get(1).contains("channel default could not connect to rank 0 over loop"), failures.get(1));
        assertTrue(failures.get(0).contains("rank 1 could not open the session"), failures.get(0));
    }

    @Test
    void shouldNameTheKeyOfTheTimeInWhichItCouldNotConnect() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        for (Map<String, Object> each : settings) {
            each.put("tm.loop.fail-connections-late", true);
            each.put("session.open-timeout", "3s");
        }
        List<String> failures = failuresOf(settings);
        String expected = "over loop within madeleine.session.open-timeout = 3s: the loop waits in vain";
        assertTrue(failures.stream().anyMatch(failure -> failure.contains(expected)), "" + failures);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldEndTheWaitForConnectionsWhenAnotherRankCannotConnect(int waiting) throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.get(waiting).put("tm.loop.await-connections", true);
        settings.get(1 - waiting).put("tm.loop.refuse-connections", true);
        String failure = failuresOf(settings).get(waiting);
        assertTrue(failure.contains("rank " + (1 - waiting) + " could not open the session"), failure);
        assertTrue(failure.endsWith("the loop refuses to connect"), failure);
    }

    @Test
    @Tag("measures")
    void shouldGiveUpAtTheTimeoutAndNameTheMissingRank() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 3, port), TestSessions.settings(2, 3, port));
        settings.getFirst().put("session.open-timeout", "2s"); // by then rank 2 has joined
        List<String> failures = failuresOf(settings);
        assertTrue(failures.getFirst().contains("rank 1 has not joined"), "" + failures);
        assertTrue(failures.getLast().contains("rank 0 could not open the session"), "" + failures);
    }

    @Test
    void shouldRefuseChannelsThatDiffer() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.get(0).put("channels.extra.network", "loop");
        List<String> failures = failuresOf(settings);
        assertTrue(failures.stream().anyMatch(failure -> failure.contains("channel")), "" + failures);
    }

    private static List<String> failuresOf(List<Map<String, Object>> settings) throws Exception {
        List<Callable<String>> openings = new ArrayList<>();
        for (Map<String, Object> one : settings) {
            openings.add(() -> assertThrows(MadeleineException.class, () -> TestSessions.open(one))
                    .getMessage());
        }
        return TestSessions.all(openings);
    }

    @Test
    void shouldNameTheReasonWhenAChannelsNetworkIsOff() {
        Map<String, Object> settings = TestSessions.loop();
        settings.put("tm.loop.available", false);
        settings.put("channels.default.network", "loop");
        ConfigurationException failure = assertThrows(ConfigurationException.class, () -> TestSessions.open(settings));
        assertTrue(failure.getMessage().contains("told so by tm.loop.available"), failure.getMessage());
        assertTrue(failure.getMessage().contains("madeleine.channels"), failure.getMessage());
    }

    @Test
    void shouldRefuseFaultsOfARankThatItDoesNotHave() {
        for (String direction : List.of("0-to-1", "1-to-any", "any-to-3")) {
            Map<String, Object> settings = Map.of("madeleine.faults.links." + direction + ".delay", "1ms");
            ConfigurationException failure =
                    assertThrows(ConfigurationException.class, () -> TestSessions.open(settings));
            assertTrue(
                    failure.getMessage().contains("madeleine.faults.links." + direction + " names a process"),
                    failure.getMessage());
        }
    }

    @Test
    void shouldOfferTheNearestNameForAnUnknownChannel() {
        try (Session session = TestSessions.open(Map.of())) {
            ConfigurationException failure =
                    assertThrows(ConfigurationException.class, () -> session.channel("defualt"));
            assertTrue(failure.getMessage().contains("did you mean default?"), failure.getMessage());
        }
    }

    @Test
    void shouldLendMemoryUntilItCloses() {
        Session session = TestSessions.open(Map.of());
        MemorySegment memory = session.allocate(100);
        assertEquals(0, memory.address() % 64);
        assertEquals(100, memory.byteSize());
        assertThrows(UnsupportedOperationException.class, () -> session.arena().close());
        session.close();
        session.close();
        assertFalse(memory.scope().isAlive());
        assertThrows(SessionException.class, () -> session.allocate(1));
        assertThrows(SessionException.class, session::progress);
        assertThrows(MadeleineException.class, () -> session.channel().beginUnpacking());
    }

    @Test
    void shouldHaveArenasForItsUserToClose() {
        Session session = TestSessions.open(Map.of());
        Arena closed = session.newArena();
        MemorySegment memory = closed.allocate(100);
        closed.close();
        assertFalse(memory.scope().isAlive());
        assertThrows(IllegalStateException.class, () -> session.allocateShared(1, closed));
        assertThrows(IllegalArgumentException.class, () -> session.allocateShared(1, Arena.global()));
        Arena forgotten = session.newArena();
        MemorySegment shared = session.allocateShared(100, forgotten);
        assertEquals(100, session.allocateShared(100, session.arena()).byteSize());
        session.close();
        assertFalse(shared.scope().isAlive());
        forgotten.close();
        assertThrows(SessionException.class, session::newArena);
        assertThrows(SessionException.class, () -> session.allocateShared(1, forgotten));
    }

    @Test
    void shouldEndWaitsOfOtherThreadsWhenItCloses() throws Exception {
        Session session = open(2).getFirst();
        CompletableFuture<IncomingMessage> waiting =
                CompletableFuture.supplyAsync(() -> session.channel().beginUnpacking());
        Thread.sleep(100);
        session.close();
        ExecutionException ended = assertThrows(ExecutionException.class, () -> waiting.get(10, TimeUnit.SECONDS));
        assertEquals(SessionException.class, ended.getCause().getClass());
    }

    @Test
    void shouldTellListenersOfALossAlsoWhenItClosesForIt() throws Exception {
        List<Integer> heard = new CopyOnWriteArrayList<>();
        Session session = open(2).getFirst();
        session.onPeerFailure((rank, _) -> heard.add(rank));
        LoopProtocol.cut(session.id(), LossKind.CONNECTION);
        assertThrows(PeerFailedException.class, () -> session.channel().beginUnpacking(1));
        session.close();
        assertEquals(List.of(1), heard);
    }

    @ParameterizedTest
    @EnumSource(LossKind.class)
    void shouldTellWhatIsLostAndTakeThePeerForDeadOnBothSides(LossKind kind) throws Exception {
        BlockingQueue<Integer> heard = new LinkedBlockingQueue<>();
        List<Session> both = open(2);
        Session first = both.getFirst();
        CompletableFuture<LossKind> told = new CompletableFuture<>();
        first.onPeerFailure((_, why) -> told.complete(why.kind()));
        both.getLast().onPeerFailure((rank, _) -> heard.add(rank));
        LoopProtocol.cut(first.id(), kind);
        PeerFailedException seen =
                assertThrows(PeerFailedException.class, () -> first.channel().beginUnpacking(1));
        assertEquals(kind, seen.kind());
        assertEquals(kind, told.get(10, TimeUnit.SECONDS));
        assertEquals(0, heard.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void shouldCloseFromAHandler() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.forEach(one -> one.put("channels.quiet.network", "loop"));
        List<Session> sessions = TestSessions.openAll(settings);
        opened.addAll(sessions);
        Session closing = sessions.get(1);
        CompletableFuture<String> handled = new CompletableFuture<>();
        closing.channel().onMessage(message -> {
            message.discard();
            closing.close();
            handled.complete("closed");
        });
        sessions.get(0).channel().beginPacking(1).packInt(1).endPacking();
        // this thread leads, and so runs the handler
        assertThrows(SessionException.class, () -> closing.channel("quiet").beginUnpacking(10, TimeUnit.SECONDS));
        assertEquals("closed", handled.get(10, TimeUnit.SECONDS));
        assertThrows(SessionException.class, closing::progress);
    }

    @Test
    void shouldStayOpenWhenItIsClosedFromWithinAPoll() throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.get(1).put("tm.loop.in-poll", "close");
        List<Session> sessions = TestSessions.openAll(settings);
        opened.addAll(sessions);
        Session closing = sessions.get(1);
        CompletableFuture<String> refusal = new CompletableFuture<>();
        LoopProtocol.IN_POLL.put("close", () -> {
            try {
                closing.close();
                refusal.complete("closed");
            } catch (RuntimeException e) {
                refusal.complete(e.toString());
            }
        });
        while (!refusal.isDone()) {
            closing.progress();
        }
        assertTrue(refusal.get().contains("must not close the session"), refusal.get());
        for (Session from : sessions) {
            Session to = sessions.get(1 - from.rank());
            from.channel().beginPacking(to.rank()).packInt(2).endPacking();
            IncomingMessage in = to.channel().beginUnpacking(20, TimeUnit.SECONDS);
            assertEquals(2, in.unpackInt());
            in.endUnpacking();
        }
    }

    @Test
    void shouldBeInSeveralSessionsAtOnce() throws Exception {
        List<Session> first = open(2);
        List<Session> second = open(2);
        first.get(0).channel().beginPacking(1).packInt(1).endPacking();
        second.get(0).channel().beginPacking(1).packInt(2).endPacking();
        for (Session session : List.of(second.get(1), first.get(1))) {
            IncomingMessage in = session.channel().beginUnpacking();
            assertEquals(session == first.get(1) ? 1 : 2, in.unpackInt());
            in.endUnpacking();
        }
    }

    @Test
    void shouldOpenFromVirtualThreads() throws Exception {
        int port = TestSessions.freePort();
        List<CompletableFuture<Session>> openings = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            Map<String, Object> settings = TestSessions.settings(rank, 2, port);
            CompletableFuture<Session> opening = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> opening.complete(TestSessions.open(settings)));
            openings.add(opening);
        }
        for (CompletableFuture<Session> opening : openings) {
            opened.add(opening.get(20, TimeUnit.SECONDS));
        }
    }
}
