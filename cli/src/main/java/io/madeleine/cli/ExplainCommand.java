package io.madeleine.cli;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.session.SessionInfo;
import io.madeleine.session.SessionInfo.Protocol;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code mad explain}: which transmission module carries a block.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = "explain",
        header = "Says which transmission module takes a block, how its buffers are managed, and why.",
        synopsisHeading = "Usage: ",
        abbreviateSynopsis = true,
        description = {
            "",
            "Describes a connection between two processes with this configuration. The selection depends only on the"
                    + " block's size and modes; the two processes agree on it when they connect.",
            "",
        },
        optionListHeading = "Options:%n",
        footer = {
            "",
            "Exit codes:",
            "  0  explained",
            "  1  the network is off, or the configuration is wrong",
            "  2  the command line is wrong",
            "",
            "Examples:",
            "  mad explain --bytes 64KiB --send CHEAPER --receive EXPRESS",
            "  mad explain --bytes 8 --send LATER --receive CHEAPER --protocol tcp",
        })
final class ExplainCommand implements Callable<Integer> {
    @Option(
            names = "--bytes",
            paramLabel = "SIZE",
            required = true,
            converter = Sizes.class,
            description = "The size of the block: 512, 64KiB, 1MiB.")
    long bytes;

    @Option(
            names = "--send",
            paramLabel = "MODE",
            description = "The send mode: SAFER, LATER or CHEAPER. Default: CHEAPER.")
    SendMode send = SendMode.CHEAPER;

    @Option(
            names = "--receive",
            paramLabel = "MODE",
            description = "The receive mode: EXPRESS or CHEAPER. Default: CHEAPER.")
    ReceiveMode receive = ReceiveMode.CHEAPER;

    @Option(
            names = "--protocol",
            paramLabel = "NAME",
            description = "The network, for instance sci or tcp. Default: all that are on.")
    Optional<String> protocol = Optional.empty();

    @Mixin
    ConfigurationOptions configuration = new ConfigurationOptions();

    @Mixin
    GeneralOptions general = new GeneralOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        SessionInfo info = SessionInfo.of(configuration.arguments());
        List<Protocol> asked = protocol.map(name -> List.of(named(name, info)))
                .orElseGet(() -> info.protocols().stream().filter(Protocol::on).toList());
        Optional<Protocol> off =
                asked.stream().filter(candidate -> !candidate.on()).findFirst();
        if (off.isPresent() || asked.isEmpty()) {
            spec.commandLine()
                    .getErr()
                    .println("mad explain: "
                            + off.map(it -> it.name() + " is off: "
                                            + it.availability().text())
                                    .orElse("no network is on; mad info says why"));
            return Mad.FAILURE;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println("A block of " + Sizes.text(bytes) + ", " + send + "/" + receive);
        for (Protocol it : asked) {
            out.println();
            out.print("On " + it.name() + ": " + it.selection().orElseThrow().explain(bytes, send, receive));
        }
        out.flush();
        return 0;
    }

    private Protocol named(String name, SessionInfo info) {
        return info.protocol(name)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "there is no network " + name + ": expected one of "
                                + String.join(
                                        ", ",
                                        info.protocols().stream()
                                                .map(Protocol::name)
                                                .toList())));
    }
}
