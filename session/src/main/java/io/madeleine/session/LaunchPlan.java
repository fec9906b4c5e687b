package io.madeleine.session;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a {@link Launcher} starts: N local JVMs that are the ranks of one session. Start from {@link #of} and change what
 * is to differ.
 *
 * <p>Threading: immutable.
 *
 * @param processes how many
 * @param javaArguments what is given to {@code java}, unchanged: its options, main class or {@code -jar}, arguments
 * @param environment variables to set in addition to those of this process
 * @param configuration the configuration file; empty for what MADELEINE_CONF says, if anything
 * @param settings {@code key=value} each; they count more than the configuration file
 * @param conduct how the launcher treats its processes
 */
public record LaunchPlan(
        int processes,
        List<String> javaArguments,
        Map<String, String> environment,
        Optional<Path> configuration,
        List<String> settings,
        Conduct conduct) {
    /** The highest number of processes of one launcher. */
    public static final int MAX_PROCESSES = 4096;

    /**
     * How a launcher treats its processes.
     *
     * @param onFailure what to do when one fails
     * @param prefix whether each line of output begins with the rank, {@code [0] }
     * @param input whether rank 0 reads this process's standard input; the others, and without it all, read nothing
     * @param grace how long a process that was asked to end may take until it is killed
     */
    public record Conduct(OnFailure onFailure, boolean prefix, boolean input, Duration grace) {
        /** Stops on failure, prefixes output, gives no input, five seconds of grace. */
        public static final Conduct DEFAULT = new Conduct(OnFailure.STOP, true, false, Duration.ofSeconds(5));
    }

    /** Copies the collections and checks the number. */
    public LaunchPlan {
        if (processes < 1 || processes > MAX_PROCESSES) {
            throw new IllegalArgumentException(processes + " processes: expected 1 to " + MAX_PROCESSES);
        }
        javaArguments = List.copyOf(javaArguments);
        environment = Map.copyOf(environment);
        settings = List.copyOf(settings);
    }

    /** So many processes of a program, everything else by default. */
    public static LaunchPlan of(int processes, List<String> javaArguments) {
        return new LaunchPlan(processes, javaArguments, Map.of(), Optional.empty(), List.of(), Conduct.DEFAULT);
    }

    /** The same with these environment variables. */
    public LaunchPlan withEnvironment(Map<String, String> variables) {
        return new LaunchPlan(processes, javaArguments, variables, configuration, settings, conduct);
    }

    /** The same with this configuration file. */
    public LaunchPlan withConfiguration(Path file) {
        return new LaunchPlan(processes, javaArguments, environment, Optional.of(file), settings, conduct);
    }

    /** The same with these settings. */
    public LaunchPlan withSettings(List<String> keyValues) {
        return new LaunchPlan(processes, javaArguments, environment, configuration, keyValues, conduct);
    }

    /** The same with this conduct. */
    public LaunchPlan withConduct(Conduct how) {
        return new LaunchPlan(processes, javaArguments, environment, configuration, settings, how);
    }
}
