package io.madeleine.session.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * The environment variables, system properties and command line of a process. Tests create their own instead of
 * changing those of the JVM.
 *
 * <p>Threading: immutable, as long as the properties do not change.
 *
 * @param environment the environment variables
 * @param properties the system properties
 * @param commandLine the arguments of this process as other users see them
 */
public record ProcessEnvironment(Map<String, String> environment, Properties properties, List<String> commandLine) {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    /** The launcher's control address, host:port. */
    public static final String LAUNCHER = "MADELEINE_LAUNCHER";

    /** This process's rank. */
    public static final String RANK = "MADELEINE_RANK";

    /** The number of processes. */
    public static final String SIZE = "MADELEINE_SIZE";

    /** The session's secret. */
    public static final String SECRET = "MADELEINE_SECRET";

    /** The configuration file. */
    public static final String CONF = "MADELEINE_CONF";

    /** The launcher's settings, one key=value per line. */
    public static final String SETTINGS = "MADELEINE_SETTINGS";

    /** The surroundings of this JVM. */
    public static ProcessEnvironment ofThisProcess() {
        return new ProcessEnvironment(System.getenv(), System.getProperties(), ownCommandLine());
    }

    /** ProcessEnvironment with an empty command line. */
    public ProcessEnvironment(Map<String, String> environment, Properties properties) {
        this(environment, properties, List.of());
    }

    /** The command line of this process. Reads it from the system if possible, because the JDK omits long ones. */
    public static List<String> ownCommandLine() {
        try {
            return List.of(
                    Files.readString(COMMAND_LINE, StandardCharsets.ISO_8859_1).split("\0"));
        } catch (IOException _) {
            return List.of(ProcessHandle.current().info().arguments().orElseGet(() -> new String[0]));
        }
    }

    /** An environment variable; empty if it is missing or blank. */
    public Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
