package io.madeleine.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Processes that a session is to start beside its own: see {@link Session#launch}.
 *
 * <p>Threading: immutable.
 *
 * @param processes how many
 * @param program what they run
 * @param command the program and its arguments; every user of the machine can read them
 * @param environment variables to set; the place for addresses and secrets
 */
public record LaunchRequest(int processes, Program program, List<String> command, Map<String, String> environment) {
    /** What the command is. */
    public enum Program {
        /** What is behind {@code java}: more options, a main class, its arguments. */
        JAVA,

        /** A program of the system, and its arguments. */
        SYSTEM
    }

    private static final int MAX_PROCESSES = 4096;

    /** Copies the collections and checks all that can be. */
    public LaunchRequest {
        Objects.requireNonNull(program, "program");
        Objects.requireNonNull(command, "command");
        Objects.requireNonNull(environment, "environment");
        if (processes < 1 || processes > MAX_PROCESSES || command.isEmpty()) {
            throw new IllegalArgumentException(processes + " processes of the command " + command + ": expected 1 to "
                    + MAX_PROCESSES + " of a command that is not empty");
        }
        command = List.copyOf(command);
        environment = Map.copyOf(environment);
        List<String> all = new ArrayList<>(command);
        all.addAll(environment.keySet());
        all.addAll(environment.values());
        if (all.stream().anyMatch(text -> text.indexOf('\0') >= 0)) {
            throw new IllegalArgumentException("a command or an environment with a zero character");
        }
    }

    /**
     * A Java program, by the JVM of this process with its options and its class path or module path; not those options that are
     * for one process alone: {@code -Dmadeleine.session...}, and the port of a debugger.
     *
     * @param command more options if there are any, the main class (or {@code -m}, or a source file), arguments
     */
    public static LaunchRequest java(int processes, String... command) {
        Objects.requireNonNull(command, "command");
        return new LaunchRequest(processes, Program.JAVA, List.of(command), Map.of());
    }

    /** A program of the system. */
    public static LaunchRequest system(int processes, String... command) {
        Objects.requireNonNull(command, "command");
        return new LaunchRequest(processes, Program.SYSTEM, List.of(command), Map.of());
    }

    /** The same with these environment variables, in addition to those there are. */
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
