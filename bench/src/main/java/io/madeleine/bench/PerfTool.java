package io.madeleine.bench;

import io.madeleine.bench.peer.Peers;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.spi.ToolProvider;
import picocli.CommandLine;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * {@code mad perf} as the command line finds it: a tool called {@code mad-perf}.
 *
 * <p>Threading: stateless.
 */
public final class PerfTool implements ToolProvider {
    /** What users call it. */
    static final String NAME = "mad perf";

    /** For the service loader. */
    public PerfTool() {}

    @Override
    public String name() {
        return "mad-perf";
    }

    @Override
    public Optional<String> description() {
        return Optional.of("Measures latency, bandwidth and message rate between two processes of this machine.");
    }

    @Override
    public int run(PrintWriter out, PrintWriter err, String... arguments) {
        CommandLine line = ToolOptions.line(NAME, new PerfCommand(), out, err);
        describePeers(line.getCommandSpec().usageMessage());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        return line.execute(arguments);
    }

    /** The list of names with their meanings, before the exit codes. */
    private static void describePeers(UsageMessageSpec usage) {
        List<String> footer = new ArrayList<>(List.of("", "Peers:"));
        Peers.list().forEach(peer -> footer.add(peer.line()));
        footer.addAll(List.of(usage.footer()));
        usage.footer(footer.toArray(String[]::new));
    }
}
