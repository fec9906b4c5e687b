package io.madeleine.cli;

import io.madeleine.session.JavaArguments;
import io.madeleine.session.LaunchPlan;
import io.madeleine.session.Launcher;
import io.madeleine.session.OnFailure;
import io.madeleine.session.SessionInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * {@code mad run}: starts the processes of a program. The options of {@code mad run} come first. The first argument
 * that is not one of them, and all that follow, go to {@code java}.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = "run",
        header = "Starts a program as N processes of one session on this machine.",
        customSynopsis = {
            "mad run -n N [OPTIONS] [--] [JAVA-OPTIONS] MAIN-CLASS [ARGUMENTS]",
            "mad run -n N [OPTIONS] [--] [JAVA-OPTIONS] -jar FILE.jar [ARGUMENTS]",
            "mad run -n N [OPTIONS] [--] [JAVA-OPTIONS] FILE.java [ARGUMENTS]",
        },
        description = {
            "",
            "Each process runs the same program with a rank of its own, 0 to N-1, and joins the session with"
                    + " Session.open(). Everything after \"--\", or from the first argument that is not an option"
                    + " below, goes to java unchanged. The program need not name Madeleine's jars: mad adds them to its"
                    + " module path, beside the program's own class path or module path.",
            "",
            "Ctrl-C and SIGTERM end all processes: mad kills those that have not ended within 5 seconds. None of them"
                    + " outlives mad. Processes that the program has started itself, other than by Session.launch, are"
                    + " not ended.",
            "",
            "Rank 0 alone has the standard input of mad; the others read an empty one.",
            "",
            "The processes start faster with a class archive, which is made with mad. -Xshare:off in front of the program"
                    + " turns it off.",
            "",
        },
        optionListHeading = "Options:%n",
        footer = {
            "",
            "Exit codes:",
            "  0     all processes ended with 0",
            "  1     the processes could not be started, the configuration is wrong, or a process exited with 0",
            "        without closing its session, or before it joined one that others open",
            "  2     the command line is wrong",
            "  else  the exit code of the first process that failed, 128+N if signal N ended it; or an abort's code,",
            "        of which MPI takes the last 8 bits: abort(0) and abort(256) end with 0",
            "",
            "Examples:",
            "  mad run -n 2 samples/src/main/java/io/madeleine/samples/UnpredictableArray.java",
            "  mad run -n 4 --conf conf/one-host.conf --on-failure continue -Xmx1g -cp app.jar org.example.Main 10",
        })
final class RunCommand implements Callable<Integer> {
    @Option(
            names = "-n",
            paramLabel = "N",
            required = true,
            description = "How many processes, 1 to " + LaunchPlan.MAX_PROCESSES + ".")
    int processes;

    @Mixin
    ConfigurationOptions configuration = new ConfigurationOptions();

    @Option(
            names = "--on-failure",
            paramLabel = "stop|continue",
            description = "When a process fails: stop the others, or let them continue. Default: stop.")
    OnFailure onFailure = OnFailure.STOP;

    @Option(
            names = "-x",
            paramLabel = "NAME[=VALUE]",
            description = "Sets an environment variable of all processes. Without a value it must be set here, and the"
                    + " processes inherit it, as all others.")
    List<String> variables = new ArrayList<>();

    @Option(
            names = {"--wdir", "-wdir"},
            paramLabel = "DIR",
            description = "The working directory of all processes. Relative paths in what follows, as those of -cp,"
                    + " count from there. Default: the directory of mad.")
    Optional<Path> directory = Optional.empty();

    @Option(names = "--no-prefix", description = "Leaves out the rank, \"[0] \", in front of each line of output.")
    boolean noPrefix;

    @Option(
            names = "--no-native",
            description = "Grants native access to no module. By default mad grants it to the modules that the"
                    + " configuration can use: io.madeleine.linux for single copy where the system permits it, and"
                    + " others if the configuration asks for them, for instance for epoll.")
    boolean noNative;

    @Mixin
    GeneralOptions general = new GeneralOptions();

    @Unmatched
    List<String> program = new ArrayList<>();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        LaunchPlan plan = plan();
        JavaArguments.programFile(program).ifPresent(file -> checkFile(file, plan));
        return Launcher.run(plan);
    }

    private void checkFile(String file, LaunchPlan plan) {
        Path place = plan.directory().orElse(Path.of("")).resolve(file).toAbsolutePath();
        if (!Files.exists(place)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "there is no file " + file + (place.toString().equals(file) ? "" : "; looked for " + place));
        }
    }

    /** The plan that the options describe. */
    LaunchPlan plan() {
        if (program.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "nothing to run: expected a main class, -jar FILE.jar or FILE.java");
        }
        if (processes < 1 || processes > LaunchPlan.MAX_PROCESSES) {
            throw new ParameterException(
                    spec.commandLine(), "-n " + processes + ": expected 1 to " + LaunchPlan.MAX_PROCESSES);
        }
        List<String> nativeModules = info().nativeModules();
        Map<String, String> environment = environment();
        LaunchPlan plan = LaunchPlan.of(
                        processes,
                        JavaArguments.withMadeleine(program, noNative ? List.of() : nativeModules, environment))
                .withEnvironment(environment)
                .withSettings(configuration.settings)
                .withConduct(new LaunchPlan.Conduct(onFailure, !noPrefix, true, LaunchPlan.Conduct.DEFAULT.grace()));
        plan = configuration.conf.map(plan::withConfiguration).orElse(plan);
        return directory.map(this::existing).map(plan::withDirectory).orElse(plan);
    }

    private Path existing(Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new ParameterException(
                    spec.commandLine(), "--wdir " + folder + ": there is no such directory; expected an existing one");
        }
        return folder.toAbsolutePath();
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>();
        for (String variable : variables) {
            int end = variable.indexOf('=');
            String name = end < 0 ? variable : variable.substring(0, end);
            String value = end < 0 ? System.getenv(name) : variable.substring(end + 1);
            if (name.isEmpty() || value == null) {
                throw new ParameterException(
                        spec.commandLine(),
                        "-x " + variable + ": expected NAME=VALUE, or the name of a variable that is set here");
            }
            environment.put(name, value);
        }
        return environment;
    }

    /** Describes the session. Also finds errors in the configuration before any process starts. */
    private SessionInfo info() {
        List<String> arguments = configuration.arguments();
        return JavaArguments.haveClasses(program) ? SessionInfo.ofOtherProgram(arguments) : SessionInfo.of(arguments);
    }
}
