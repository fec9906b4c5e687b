package io.madeleine.bench;

import io.madeleine.session.JavaArguments;
import io.madeleine.session.SessionInfo;
import io.madeleine.session.SessionInfo.Protocol;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Asks a JVM without native access whether a network can do without. This JVM may have native access, since it
 * describes processes that do.
 *
 * <p>Threading: stateless.
 */
final class WithoutNativeAccess {
    private static final String ON = "on";

    private WithoutNativeAccess() {}

    /**
     * Why the network is off there; empty if it is on.
     *
     * @param arguments those of a session
     */
    static Optional<String> whyOff(Network network, List<String> arguments) throws IOException {
        if (network.protocol().nativeModules().isEmpty()) {
            return Optional.empty();
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JavaArguments.withMadeleine(
                List.of(
                        "--illegal-native-access=deny",
                        "--sun-misc-unsafe-memory-access=deny",
                        "-Dstdout.encoding=UTF-8",
                        "-cp",
                        System.getProperty("java.class.path"),
                        WithoutNativeAccess.class.getName(),
                        network.family()),
                List.of()));
        command.addAll(arguments);
        command.addAll(network.settings());
        String answer = LastLine.of(command, Map.of());
        return answer.equals(ON) ? Optional.empty() : Optional.of(answer);
    }

    /** Prints whether a family is on, or why not; then come the arguments of a session. */
    public static void main(String[] arguments) {
        Protocol protocol = SessionInfo.of(List.of(arguments).subList(1, arguments.length))
                .protocol(arguments[0])
                .orElseThrow();
        System.out.println(protocol.on() ? ON : protocol.availability().reason());
    }
}
