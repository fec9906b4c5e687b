package io.madeleine.session;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a {@link Launcher} starts: N local JVMs, the ranks of one session. Begin with {@link #of} and change single
 * parts with the {@code with} methods.
 *
 * <p>Threading: immutable.
 *
 * @param processes the number of processes, 1 to {@link #MAX_PROCESSES}
 * @param javaArguments the arguments for {@code java}, passed unchanged: options, then main class or {@code -jar}, then
 *     the program's arguments
 * @param environment variables to set in addition to those of this process
 * @param directory the working directory of the processes; empty for that of this process
 * @param configuration the configuration file; empty for the file that MADELEINE_CONF names, if any
 * @param settings one {@code key=value} each; they override the configuration file
 * @param conduct how the launcher treats its processes
 */
public record LaunchPlan(
        int processes,
        List<String> javaArguments,
        Map<String, String> environment,
        Optional<Path> directory,
        Optional<Path> configuration,
        List<String> settings,
        Conduct conduct) {
    /** The largest number of processes that one launcher starts. */
    public static final int MAX_PROCESSES = 4096;

    /**
     * How a launcher treats its processes.
     *
     * @param onFailure what to do when a process fails
     * @param prefix whether each line of output begins with the rank, {@code [0] }
     * @param input whether rank 0 reads this process's standard input; all other processes read an empty input
     * @param grace the time between the request to end and the kill
     */
    public record Conduct(OnFailure onFailure, boolean prefix, boolean input, Duration grace) {
        /** Stops on failure, prefixes output, passes no input, waits five seconds before it kills. */
        public static final Conduct DEFAULT = new Conduct(OnFailure.STOP, true, false, Duration.ofSeconds(5));
    }

    public LaunchPlan {
        if (processes < 1 || processes > MAX_PROCESSES) {
            throw new IllegalArgumentException(processes + " processes: expected 1 to " + MAX_PROCESSES);
        }
        javaArguments = List.copyOf(javaArguments);
        environment = Map.copyOf(environment);
        settings = List.copyOf(settings);
    }

    /** A plan for this number of processes of a program, with the default conduct and no settings. */
    public static LaunchPlan of(int processes, List<String> javaArguments) {
        return new LaunchPlan(
                processes, javaArguments, Map.of(), Optional.empty(), Optional.empty(), List.of(), Conduct.DEFAULT);
    }

    /** This plan with these environment variables instead of its own. */
    public LaunchPlan withEnvironment(Map<String, String> variables) {
        return new LaunchPlan(processes, javaArguments, variables, directory, configuration, settings, conduct);
    }

    /** This plan with this working directory. Relative paths among the arguments count from there. */
    public LaunchPlan withDirectory(Path folder) {
        return new LaunchPlan(
                processes, javaArguments, environment, Optional.of(folder), configuration, settings, conduct);
    }

    /** This plan with this configuration file. */
    public LaunchPlan withConfiguration(Path file) {
        return new LaunchPlan(processes, javaArguments, environment, directory, Optional.of(file), settings, conduct);
    }

    /** This plan with these settings instead of its own. */
    public LaunchPlan withSettings(List<String> keyValues) {
        return new LaunchPlan(processes, javaArguments, environment, directory, configuration, keyValues, conduct);
    }

    /** This plan with this conduct. */
    public LaunchPlan withConduct(Conduct how) {
        return new LaunchPlan(processes, javaArguments, environment, directory, configuration, settings, how);
    }
}
