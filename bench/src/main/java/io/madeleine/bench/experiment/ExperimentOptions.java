package io.madeleine.bench.experiment;

import java.io.PrintWriter;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options of {@code mad perf} that redo figures of the papers.
 *
 * <p>Threading: confined to caller.
 */
public final class ExperimentOptions {
    @Option(names = "--experiments", description = "Lists the figures of the papers that can be redone.")
    boolean list;

    @Option(
            names = "--experiment",
            paramLabel = "ID",
            description = "Redoes one of them: chooses networks, peers, patterns and sizes, and writes ID.html unless"
                    + " --report says otherwise. --sizes, --pattern and --peers may still be given.")
    Optional<String> id = Optional.empty();

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    /** For picocli. */
    public ExperimentOptions() {}

    /** Prints the list if it was asked for. */
    public boolean listed() {
        if (list) {
            PrintWriter out = spec.commandLine().getOut();
            String line = "%-17s  %-28s  %-50s  %s";
            out.println(line.formatted("id", "paper", "figure", "status"));
            Experiments.ALL.forEach(experiment -> out.println(line.formatted(
                    experiment.id(),
                    experiment.paper(),
                    experiment.figure(),
                    experiment.status().word())));
            out.flush();
        }
        return list;
    }

    /** The experiment that the user has asked for. */
    public Optional<Experiment> chosen() {
        return id.map(name -> Experiments.of(name)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "--experiment " + name + ": there is no such experiment, expected one of "
                                + String.join(", ", Experiments.ids()))));
    }

    /** Whether the user has given an option, which then takes precedence. */
    public boolean given(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }
}
