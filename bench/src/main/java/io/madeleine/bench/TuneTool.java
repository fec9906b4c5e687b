package io.madeleine.bench;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.spi.ToolProvider;

/**
 * {@code mad tune} as the command line finds it: a tool called {@code mad-tune}.
 *
 * <p>Threading: stateless.
 */
public final class TuneTool implements ToolProvider {
    /** What users call it. */
    static final String NAME = "mad tune";

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
        return ToolOptions.line(NAME, new TuneCommand(), out, err).execute(arguments);
    }
}
