package io.madeleine.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.spi.ToolProvider;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * A command from another module. A {@link ToolProvider} called {@code mad-NAME}, found at run time, becomes {@code mad
 * NAME}. It receives all arguments behind the name and handles help and errors itself.
 *
 * <p>Threading: confined to caller.
 */
@Command
final class ToolCommand implements Callable<Integer> {
    private static final String PREFIX = "mad-";

    private final ToolProvider tool;

    @Unmatched
    List<String> arguments = new ArrayList<>();

    @Spec
    CommandSpec spec = CommandSpec.create();

    ToolCommand(ToolProvider tool) {
        this.tool = tool;
    }

    /** All commands from other modules. */
    static List<ToolCommand> all() {
        List<ToolCommand> found = new ArrayList<>();
        for (ToolProvider tool : java.util.ServiceLoader.load(ToolProvider.class)) {
            if (tool.name().startsWith(PREFIX)) {
                found.add(new ToolCommand(tool));
            }
        }
        return found;
    }

    String name() {
        return tool.name().substring(PREFIX.length());
    }

    String header() {
        return tool.description().orElse("");
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        return tool.run(out, err, arguments.toArray(String[]::new));
    }
}
