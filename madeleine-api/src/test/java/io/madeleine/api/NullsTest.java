package io.madeleine.api;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.LaunchRequest.Program;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What makes sessions and requests refuses null, and says which parameter it is. */
class NullsTest {
    private static final SessionRequest REQUEST = SessionRequest.of("name", 2, 0, "address", "secret");
    private static final LaunchRequest LAUNCH = LaunchRequest.system(1, "true");

    /** A call with null, and the parameter that is null. */
    private record Nulled(String parameter, Executable call) {}

    private static Nulled call(String parameter, Executable call) {
        return new Nulled(parameter, call);
    }

    static Stream<Nulled> calls() {
        return Stream.of(
                call("arguments", () -> Session.open((String[]) null)),
                call("file", () -> Session.open((Path) null)),
                call("settings", () -> Session.open((Map<String, ?>) null)),
                call("request", () -> Session.open((SessionRequest) null)),
                call("address", () -> SessionPort.open((String) null)),
                call("name", () -> SessionRequest.of(null, 2, 0, "address", "secret")),
                call("address", () -> SessionRequest.of("name", 2, 0, null, "secret")),
                call("secret", () -> SessionRequest.of("name", 2, 0, "address", null)),
                call("channels", () -> new SessionRequest("name", 2, 0, "address", "secret", null, Map.of())),
                call("settings", () -> new SessionRequest("name", 2, 0, "address", "secret", Set.of(), null)),
                call("names", () -> REQUEST.withChannels(null)),
                call("values", () -> REQUEST.withSettings(null)),
                call("program", () -> new LaunchRequest(1, null, List.of("true"), Map.of())),
                call("command", () -> new LaunchRequest(1, Program.SYSTEM, null, Map.of())),
                call("environment", () -> new LaunchRequest(1, Program.SYSTEM, List.of("true"), null)),
                call("command", () -> LaunchRequest.java(1, (String[]) null)),
                call("command", () -> LaunchRequest.system(1, (String[]) null)),
                call("variables", () -> LAUNCH.withEnvironment(null)));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void shouldRefuseNullByTheNameOfTheParameter(Nulled call) {
        NullPointerException refused = assertThrows(NullPointerException.class, call.call());
        assertTrue(String.valueOf(refused.getMessage()).contains(call.parameter()), refused::toString);
    }
}
