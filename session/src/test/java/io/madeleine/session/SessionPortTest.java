package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import io.madeleine.api.SessionException;
import io.madeleine.api.SessionPort;
import io.madeleine.api.SessionRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions that are opened on request, among ranks of one JVM. */
@Timeout(60)
class SessionPortTest {
    private static SessionRequest over(SessionRequest request) {
        return request.withSettings(TestSessions.loop());
    }

    private static CompletableFuture<Session> opening(SessionRequest request) {
        CompletableFuture<Session> session = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                session.complete(Session.open(over(request)));
            } catch (RuntimeException e) {
                session.completeExceptionally(e);
            }
        });
        return session;
    }

    private static List<Session> open(SessionPort port, String name, int size) throws Exception {
        List<CompletableFuture<Session>> others = new ArrayList<>();
        for (int rank = 1; rank < size; rank++) {
            others.add(opening(port.request(name, size, rank)));
        }
        List<Session> all = new ArrayList<>(List.of(port.open(over(port.request(name, size, 0)))));
        for (CompletableFuture<Session> other : others) {
            all.add(other.get(20, TimeUnit.SECONDS));
        }
        return all;
    }

    private static String pass(Session from, Session to, String text) {
        from.channel().beginPacking(to.rank()).packUtf8(text).endPacking();
        IncomingMessage in = to.channel().beginUnpacking();
        String received = in.unpackUtf8();
        in.endUnpacking();
        return received;
    }

    @Test
    void shouldOpenSeveralSessionsOfAnySizeAtOnePortAtOnce() throws Exception {
        SessionPort port = SessionPort.open("127.0.0.1");
        List<Session> pair = open(port, "pair", 2);
        List<Session> three = open(port, "three", 3);
        List<Session> again = open(port, "pair", 2); // while the first of this name is open
        assertNotEquals(pair.getFirst().id(), again.getFirst().id());
        port.close();
        assertEquals("1", pass(pair.get(0), pair.get(1), "1"));
        assertEquals("2", pass(three.get(2), three.get(1), "2"));
        assertEquals("3", pass(again.get(1), again.get(0), "3"));
        TestSessions.closeAll(pair);
        TestSessions.closeAll(three);
        TestSessions.closeAll(again);
    }

    @Test
    void shouldTakeGroupsInTheOrderInWhichTheyCame() throws Exception {
        try (SessionPort port = SessionPort.open("127.0.0.1")) {
            List<CompletableFuture<Session>> comers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                comers.add(opening(port.request("door", 2, 1)));
            }
            List<String> accepted = new ArrayList<>();
            List<String> came = new ArrayList<>();
            List<Session> all = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Session session = port.open(over(port.request("door", 2, 0)));
                accepted.add(session.id());
                all.add(session);
            }
            for (CompletableFuture<Session> comer : comers) {
                Session session = comer.get(20, TimeUnit.SECONDS);
                came.add(session.id());
                all.add(session);
            }
            assertEquals(Set.copyOf(accepted), Set.copyOf(came));
            TestSessions.closeAll(all);
        }
    }

    @Test
    void shouldTellWhoWaitsThatThePortWasClosed() throws Exception {
        SessionPort port = SessionPort.open("127.0.0.1");
        CompletableFuture<Session> comer = opening(port.request("door", 2, 1));
        Thread.sleep(500); // it may come before or after the port is closed; it fails either way
        port.close();
        Throwable failure = assertThrows(Exception.class, () -> comer.get(30, TimeUnit.SECONDS));
        assertTrue(failure.getCause() instanceof SessionException, failure::toString);
    }

    @Test
    void shouldOpenWithoutAPortWithTheGivenChannels() throws Exception {
        String address = "127.0.0.1:" + TestSessions.freePort();
        String secret = Sessions.newSecret();
        List<Callable<Session>> openings = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            SessionRequest request =
                    SessionRequest.of("plain", 2, i, address, secret).withChannels(Set.of("bulk", "default"));
            assertTrue(!request.toString().contains(secret));
            openings.add(() -> Session.open(over(request)));
        }
        List<Session> sessions = TestSessions.all(openings);
        assertEquals(Set.of("bulk", "default"), sessions.getFirst().channelNames());
        assertEquals("x", pass(sessions.get(0), sessions.get(1), "x"));
        TestSessions.closeAll(sessions);
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThrows(ConfigurationException.class, () -> SessionRequest.of("x", 2, 2, "127.0.0.1:7000", "s"));
        assertThrows(ConfigurationException.class, () -> SessionRequest.of("x", 2, 1, "127.0.0.1:7000", ""));
        assertThrows(
                ConfigurationException.class, () -> Session.open(SessionRequest.of("x", 2, 1, "127.0.0.1", "secret")));
        try (SessionPort port = SessionPort.open("127.0.0.1")) {
            assertThrows(IllegalArgumentException.class, () -> port.open(port.request("x", 2, 1)));
        }
    }

    @Test
    void shouldSayAtOnceThatThePortIsClosed() {
        SessionPort port = SessionPort.open("127.0.0.1");
        port.close();
        SessionException closed =
                assertThrows(SessionException.class, () -> port.open(over(port.request("late", 2, 0))));
        assertTrue(
                ("" + closed.getMessage()).contains("the port at " + port.address() + " is closed"), closed::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"session.name", "madeleine.session.secret", "session.rank", "session.hosts"})
    void shouldRefuseSettingsOfWhatTheRequestSays(String key) {
        SessionRequest request =
                SessionRequest.of("x", 1, 0, "127.0.0.1:7000", "s").withSettings(Map.of(key, "1"));
        String refusal = assertThrows(ConfigurationException.class, () -> Session.open(request))
                .getMessage();
        assertTrue(refusal.contains(key) && refusal.contains("the request itself says"), refusal);
    }
}
