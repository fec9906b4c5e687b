package io.madeleine.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * A command that the script {@code mad} runs itself, because it builds the project. Here it is an entry in the list of
 * commands.
 *
 * <p>Threading: confined to caller.
 */
@Command
final class ScriptCommand implements Callable<Integer> {
    @Unmatched
    List<String> arguments = new ArrayList<>();

    @Spec
    CommandSpec spec = CommandSpec.create();

    /** Adds all such commands. */
    static void addTo(CommandLine line) {
        add(line, "classpath", "Prints the class path that javac and java need for a program.");
        add(line, "install", "Puts all artifacts, with sources and Javadoc, into a Maven repository.");
        add(line, "test", "Builds everything with all checks on and runs all tests.");
    }

    private static void add(CommandLine line, String name, String header) {
        CommandLine command = new CommandLine(new ScriptCommand());
        command.getCommandSpec().name(name);
        command.getCommandSpec().usageMessage().header(header);
        line.addSubcommand(name, command);
    }

    @Override
    public Integer call() {
        String name = spec.name();
        spec.commandLine()
                .getErr()
                .println("mad " + name + ": only the script mad in the project's folder can do that");
        return Mad.USAGE;
    }
}
