package io.madeleine.cli;

import io.madeleine.session.SessionInfo;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code mad info}: describes the session that a process would open here.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = "info",
        header = "Says which networks are on, which are off and why, and what would carry which block.",
        synopsisHeading = "Usage: ",
        abbreviateSynopsis = true,
        description = {
            "",
            "Lists the networks with their adapters and transmission modules, the channels, and the table that selects"
                    + " a transmission module for a block, as a session with this configuration would have them on"
                    + " this machine. Opens nothing.",
            "",
        },
        optionListHeading = "Options:%n",
        footer = {
            "",
            "Exit codes:",
            "  0  the description was printed, whatever is on or off",
            "  1  the configuration is wrong",
            "  2  the command line is wrong",
            "",
            "Examples:",
            "  mad info",
            "  mad info --conf conf/tcp-cluster.conf --json",
        })
final class InfoCommand implements Runnable {
    @Mixin
    ConfigurationOptions configuration = new ConfigurationOptions();

    @Option(names = "--json", description = "Prints one JSON object instead of text; sizes are in bytes.")
    boolean json;

    @Mixin
    GeneralOptions general = new GeneralOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        SessionInfo info = SessionInfo.of(configuration.arguments());
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? InfoJson.of(info) : InfoText.of(info));
        out.flush();
    }
}
