package io.madeleine.bench;

import io.madeleine.api.MadeleineException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/**
 * What the commands of this module's tools have in common: the options of each, and how errors are reported.
 *
 * <p>Threading: confined to caller.
 */
final class ToolOptions {
    private static final String VERBOSE = "--verbose";
    private static final int FAILURE = 1;
    private static final int USAGE = 2;
    private static final int WIDTH = 110;

    @Option(names = VERBOSE, description = "Shows the stack trace of an error, too.")
    boolean verbose;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this help.")
    boolean help;

    /** The command line of a tool, which errors name as it is called. */
    static CommandLine line(String tool, Object command, PrintWriter out, PrintWriter err) {
        CommandLine line = new CommandLine(command);
        line.setOut(out);
        line.setErr(err);
        line.setUsageHelpWidth(WIDTH);
        line.setParameterExceptionHandler((e, _) -> {
            err.println(tool + ": " + e.getMessage() + " (" + tool + " --help says more)");
            return USAGE;
        });
        line.setExecutionExceptionHandler((e, _, parsed) -> {
            boolean known = e instanceof MadeleineException && e.getMessage() != null;
            err.println(tool + ": " + (known ? e.getMessage() : e));
            if (parsed.hasMatchedOption(VERBOSE)) {
                e.printStackTrace(err);
            }
            return FAILURE;
        });
        return line;
    }
}
