package io.madeleine.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The processes to start with {@link Session#launch}.
 *
 * <p>Threading: immutable.
 *
 * @param processes how many processes to start
 * @param program how {@code command} is run
 * @param command the program and its arguments; every user of the machine can read them
 * @param environment variables to set in the processes; the place for addresses and secrets
 */
public record LaunchRequest(int processes, Program program, List<String> command, Map<String, String> environment) {
    /** How the command is run. */
    public enum Program {
        /** The arguments of {@code java}: further options, a main class, its arguments. */
        JAVA,

        /** An executable and its arguments. */
        SYSTEM
    }

    private static final int MAX_PROCESSES = 4096;

    /** Copies the collections and validates the arguments. */
    public LaunchRequest {
        Objects.requireNonNull(program, "program");
        Objects.requireNonNull(command, "command");
        Objects.requireNonNull(environment, "environment");
        if (processes < 1 || processes > MAX_PROCESSES || command.isEmpty()) {
            throw new IllegalArgumentException("a launch request for " + processes + " processes of the command "
                    + command + "; expected 1 to " + MAX_PROCESSES + " processes and a command that is not empty");
        }
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
        List<String> all = new ArrayList<>(command);
        all.addAll(environment.keySet());
        all.addAll(environment.values());
        if (all.stream().anyMatch(text -> text.indexOf('\0') >= 0)) {
            throw new IllegalArgumentException(
                    "a launch request has a zero character ('\\0') in its command or environment; expected none");
        }
    }

    /**
     * Requests a Java program. It runs on the JVM of this process, with its options and its class path or module path,
     * except for options that are meant for one process alone: {@code -Dmadeleine.session...} and the port of a
     * debugger.
     *
     * @param command further options if there are any, the main class (or {@code -m}, or a source file), arguments
     */
    public static LaunchRequest java(int processes, String... command) {
        Objects.requireNonNull(command, "command");
        return new LaunchRequest(processes, Program.JAVA, List.of(command), Map.of());
    }

    /** Requests an executable. */
    public static LaunchRequest system(int processes, String... command) {
        Objects.requireNonNull(command, "command");
        return new LaunchRequest(processes, Program.SYSTEM, List.of(command), Map.of());
    }

    /** Returns a request with {@code variables} as its environment variables; the processes inherit all others. */
    public LaunchRequest withEnvironment(Map<String, String> variables) {
        Objects.requireNonNull(variables, "variables");
        return new LaunchRequest(processes, program, command, variables);
    }

    /** Without the values of environment variables, which may be secrets. */
    @Override
    public String toString() {
        return processes + " x " + command + " with " + environment.keySet();
    }
}
