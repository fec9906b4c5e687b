package io.madeleine.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * What a process is given from outside: environment variables and system properties. A value, so that tests need not
 * change those of the JVM.
 *
 * <p>Threading: immutable, as long as nobody changes the properties.
 *
 * @param environment the environment variables
 * @param properties the system properties
 * @param commandLine the arguments of this process as other users see them
 */
record Surroundings(Map<String, String> environment, Properties properties, List<String> commandLine) {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    /** The launcher's control address, host:port. */
    static final String LAUNCHER = "MADELEINE_LAUNCHER";

    /** This process's rank. */
    static final String RANK = "MADELEINE_RANK";

    /** The number of processes. */
    static final String SIZE = "MADELEINE_SIZE";

    /** The session's secret, of the launcher or of whoever starts the process. */
    static final String SECRET = "MADELEINE_SECRET";

    /** The configuration file. */
    static final String CONF = "MADELEINE_CONF";

    /** Settings of the launcher, one key=value per line. */
    static final String SETTINGS = "MADELEINE_SETTINGS";

    /** Those of this JVM. */
    static Surroundings ofThisProcess() {
        return new Surroundings(System.getenv(), System.getProperties(), ownCommandLine());
    }

    /** Without a command line. */
    Surroundings(Map<String, String> environment, Properties properties) {
        this(environment, properties, List.of());
    }

    /** From the system where it tells all; the JDK leaves out what is long. */
    static List<String> ownCommandLine() {
        try {
            return List.of(
                    Files.readString(COMMAND_LINE, StandardCharsets.ISO_8859_1).split("\0"));
        } catch (IOException _) {
            return List.of(ProcessHandle.current().info().arguments().orElseGet(() -> new String[0]));
        }
    }

    /** An environment variable; empty if it is missing or blank. */
    Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
