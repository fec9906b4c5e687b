package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Session;
import io.madeleine.api.SessionPort;
import io.madeleine.api.SessionRequest;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A session refuses null by the parameter's name, and goes on as if nothing had been said. */
@Timeout(60)
class NullsTest {
    private static Session session;

    @BeforeAll
    static void open() {
        session = TestSessions.open(Map.of("madeleine.session.secret", "a secret"));
    }

    @AfterAll
    static void close() {
        session.close();
    }

    static Stream<Nulled> calls() {
        return Stream.of(
                call("listener", session -> session.onPeerFailure(null)),
                call("reason", session -> session.abort(3, null)),
                call("request", session -> session.launch(null)),
                call("purpose", session -> session.deriveKey(null)),
                call("purpose", session -> session.deriveSessionKey(null)),
                call("purpose", session -> session.sign(null, new byte[1])),
                call("message", session -> session.sign("test", null)),
                call("name", session -> session.channel(null)),
                call("name", session -> session.virtualThreads(null)));
    }

    /** A call with null, and the parameter that is null. */
    private record Nulled(String parameter, Consumer<Session> call) {}

    private static Nulled call(String parameter, Consumer<Session> call) {
        return new Nulled(parameter, call);
    }

    private static <T> void check(String parameter, Consumer<T> call, T target) {
        NullPointerException refused = assertThrows(NullPointerException.class, () -> call.accept(target));
        assertTrue(String.valueOf(refused.getMessage()).contains(parameter), refused::toString);
    }

    @ParameterizedTest
    @MethodSource("calls")
    void shouldRefuseNullByTheNameOfTheParameter(Nulled call) {
        check(call.parameter(), call.call(), session);
        assertEquals(0, session.channel().session().rank());
    }

    @Test
    void shouldRefuseNullAtAPort() {
        try (SessionPort port = ListeningPort.open("127.0.0.1")) {
            check("request", it -> it.open((SessionRequest) null), port);
        }
    }
}
