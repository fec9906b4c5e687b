package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Session;
import io.madeleine.api.SessionException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A driver that throws while a session is closed, or while it fails to open. */
@Timeout(60)
class FailingCloseTest {
    @AfterEach
    void everythingIsClosed() {
        assertEquals(0, LoopProtocol.OPEN_ADAPTERS.get(), "adapters that were not closed");
    }

    /** Opens two ranks, the first with a driver that fails. */
    private static List<Session> open(Class<? extends Throwable> failure, String... methods) throws Exception {
        int port = TestSessions.freePort();
        List<Map<String, Object>> settings =
                List.of(TestSessions.settings(0, 2, port), TestSessions.settings(1, 2, port));
        settings.forEach(one -> {
            one.put("channels.second.network", "loop");
            one.put("channels.second.adapter", "loop1");
        });
        settings.getFirst().putAll(failing(failure, methods));
        return TestSessions.openAll(settings);
    }

    private static Map<String, Object> failing(Class<? extends Throwable> failure, String... methods) {
        return Map.of("tm.loop.fail-in", List.of(methods), "tm.loop.fail-with", failure.getName());
    }

    @ParameterizedTest
    @ValueSource(strings = {"finish", "close"})
    void shouldCloseEverythingAndThrowTheErrorThatADriverThrew(String method) throws Exception {
        List<Session> sessions = open(OutOfMemoryError.class, method);
        Error thrown =
                assertThrows(OutOfMemoryError.class, () -> sessions.getFirst().close());
        assertTrue(String.valueOf(thrown.getMessage()).contains(method), thrown::toString);
        assertEquals(1, thrown.getSuppressed().length, "both channels, and both adapters, fail");
        assertEquals(2, LoopProtocol.OPEN_ADAPTERS.get(), "adapters of the other rank");
        sessions.getFirst().close();
        sessions.get(1).close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"finish", "close"})
    void shouldCloseEverythingWhenADriverThrowsAnIllegalStateException(String method) throws Exception {
        List<Session> sessions = open(IllegalStateException.class, method);
        SessionException thrown =
                assertThrows(SessionException.class, () -> sessions.getFirst().close());
        assertTrue(String.valueOf(thrown.getMessage()).contains("told so by tm.loop.fail-in, " + method));
        Throwable first = assertInstanceOf(IllegalStateException.class, thrown.getCause());
        assertEquals(1, first.getSuppressed().length, "both channels, and both adapters, fail");
        assertEquals(2, LoopProtocol.OPEN_ADAPTERS.get(), "adapters of the other rank");
        assertThrows(SessionException.class, () -> sessions.getFirst().progress());
        sessions.getFirst().close();
        sessions.get(1).close();
    }

    @Test
    void shouldCloseEverythingWhenItFailsToOpenAndAnErrorComesUpMeanwhile() throws Exception {
        int port = TestSessions.freePort();
        Map<String, Object> alone = TestSessions.settings(0, 2, port);
        alone.putAll(failing(NoClassDefFoundError.class, "close"));
        alone.put("channels.second.network", "loop");
        alone.put("channels.second.adapter", "loop1");
        alone.put("tm.loop.refuse-connections", true);
        Map<String, Object> other = TestSessions.settings(1, 2, port);
        other.put("channels.second.network", "loop");
        other.put("channels.second.adapter", "loop1");
        List<SessionException> failures = TestSessions.all(List.of(
                () -> assertThrows(SessionException.class, () -> TestSessions.open(alone)),
                () -> assertThrows(SessionException.class, () -> TestSessions.open(other))));
        Throwable further = failures.getFirst().getSuppressed()[0];
        assertInstanceOf(NoClassDefFoundError.class, further);
        assertEquals(1, further.getSuppressed().length, "both adapters fail");
    }
}
