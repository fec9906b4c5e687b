package io.madeleine.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * {@code mad test}, as an entry in the list of commands. The script {@code mad} runs the tests itself, because it has
 * to work before anything is built.
 *
 * <p>Threading: confined to caller.
 */
@Command(name = "test", header = "Builds everything with all checks on and runs all tests.")
final class TestCommand implements Callable<Integer> {
    @Unmatched
    List<String> arguments = new ArrayList<>();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        spec.commandLine().getErr().println("mad test: only the script mad in the project's folder can do that");
        return Mad.USAGE;
    }
}
