package io.madeleine.bench;

import io.madeleine.api.MadeleineException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.spi.ToolProvider;
import picocli.CommandLine;

/**
 * {@code mad tune} as the command line finds it: a tool called {@code mad-tune}.
 *
 * <p>Threading: stateless.
 */
public final class TuneTool implements ToolProvider {
    private static final int FAILURE = 1;
    private static final int USAGE = 2;
    private static final int WIDTH = 110;

    /** For the service loader. */
    public TuneTool() {}

    @Override
    public String name() {
        return "mad-tune";
    }

    @Override
    public Optional<String> description() {
        return Optional.of("Measures on this machine which transmission module should take which block.");
    }

    @Override
    public int run(PrintWriter out, PrintWriter err, String... arguments) {
        CommandLine line = new CommandLine(new TuneCommand());
        line.setOut(out);
        line.setErr(err);
        line.setUsageHelpWidth(WIDTH);
        line.setParameterExceptionHandler((e, _) -> {
            err.println("mad tune: " + e.getMessage() + " (mad tune --help says more)");
            return USAGE;
        });
        line.setExecutionExceptionHandler((e, _, parsed) -> {
            boolean known = e instanceof MadeleineException && e.getMessage() != null;
            err.println("mad tune: " + (known ? e.getMessage() : e));
            if (parsed.hasMatchedOption("--verbose")) {
                e.printStackTrace(err);
            }
            return FAILURE;
        });
        return line.execute(arguments);
    }
}
