package io.madeleine.cli;

import io.madeleine.api.MadeleineException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command {@code mad}. Finds the subcommand and turns every failure into one sentence and an exit code.
 *
 * <p>Threading: confined to caller.
 */
@Command(
        name = "mad",
        synopsisHeading = "Usage: ",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = Version.class,
        header = "Madeleine: messages between the processes of a parallel or distributed program.",
        description = {""},
        commandListHeading = "%nCommands:%n",
        footer = {
            "",
            "mad COMMAND --help, or mad help COMMAND, shows the help of a command.",
            "",
            "Exit codes: 0 success, 1 failure, 2 wrong command line; mad run returns the exit code of its program.",
            "",
            "Examples:",
            "  mad perf --protocol sci,tcp --sizes 8,64KiB",
            "  mad run -n 2 samples/src/main/java/io/madeleine/samples/UnpredictableArray.java",
        })
public final class Mad implements Runnable {
    static final int FAILURE = 1;
    static final int USAGE = 2;

    private static final int WIDTH = 110;
    private static final Set<String> OWN = Set.of("run", "info", "explain", "secret", "test", "classpath", "install");

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this help.")
    boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Shows the versions of Madeleine and of the JDK.")
    boolean version;

    @Spec
    CommandSpec spec = CommandSpec.create();

    private Mad() {}

    /** Ends the JVM with the command's exit code. */
    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
        int code = run(out, new PrintWriter(System.err, true, System.err.charset()), Ansi.AUTO, arguments);
        out.flush();
        if (code == 0 && System.out.checkError()) {
            System.err.println("mad: not all of the output could be written: the disk is full, or nobody reads it");
            code = FAILURE;
        }
        System.exit(code);
    }

    /** Runs a command and returns its exit code. */
    static int run(PrintWriter out, PrintWriter err, Ansi ansi, String... arguments) {
        CommandLine line =
                line(arguments).setOut(out).setErr(err).setColorScheme(CommandLine.Help.defaultColorScheme(ansi));
        String[] command = withoutHelpCommand(arguments);
        boolean unknown = command.length > 1
                && !command[0].startsWith("-")
                && !line.getSubcommands().containsKey(command[0]);
        // with its options, --help would hide that the command is unknown
        return execute(line, unknown ? new String[] {command[0]} : command);
    }

    /** Executes the command line. Also turns an Error, which picocli does not catch, into one sentence. */
    static int execute(CommandLine line, String... arguments) {
        try {
            return line.execute(arguments);
        } catch (Error e) {
            line.getErr().println(line.getCommandName() + ": " + e + cause(e));
            if (List.of(arguments).contains(GeneralOptions.VERBOSE)) {
                e.printStackTrace(line.getErr());
            }
            return FAILURE;
        }
    }

    private static String cause(Throwable e) {
        Throwable first = e;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        return first == e ? "" : ": " + first;
    }

    /** Makes the parser. Loads the commands of other modules only if they may be needed, since that takes time. */
    private static CommandLine line(String... arguments) {
        CommandLine line = new CommandLine(new Mad());
        line.addSubcommand(stoppingAtUnmatched(new RunCommand()));
        line.addSubcommand(new InfoCommand());
        line.addSubcommand(new ExplainCommand());
        line.addSubcommand(new SecretCommand());
        if (arguments.length == 0 || !OWN.contains(arguments[0])) {
            for (ToolCommand tool : ToolCommand.all()) {
                CommandLine command = stoppingAtUnmatched(tool);
                command.getCommandSpec().name(tool.name());
                command.getCommandSpec().usageMessage().header(tool.header());
                line.addSubcommand(command);
            }
        }
        ScriptCommand.addTo(line);
        line.getSubcommands()
                .values()
                .forEach(command -> command.getCommandSpec().usageMessage().sortOptions(false));
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpWidth(WIDTH);
        line.setParameterExceptionHandler(Mad::usageError);
        line.setExecutionExceptionHandler(Mad::failure);
        return line;
    }

    private static CommandLine stoppingAtUnmatched(Object command) {
        return new CommandLine(command).setStopAtUnmatched(true).setUnmatchedOptionsArePositionalParams(false);
    }

    /** Turns {@code mad help run} into {@code mad run --help}. */
    private static String[] withoutHelpCommand(String... arguments) {
        if (arguments.length == 0 || !arguments[0].equals("help")) {
            return arguments;
        }
        return arguments.length == 1 ? new String[] {"--help"} : new String[] {arguments[1], "--help"};
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "expected a command");
    }

    private static int usageError(ParameterException e, String[] arguments) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        String what = e.getMessage();
        if (e instanceof UnmatchedArgumentException unmatched && command.getParent() == null) {
            what = "there is no command " + unmatched.getUnmatched().getFirst() + ": expected one of "
                    + String.join(", ", command.getSubcommands().keySet());
        }
        command.getErr().println(name + ": " + what + " (" + name + " --help says more)");
        return USAGE;
    }

    private static int failure(Exception e, CommandLine command, ParseResult result) {
        boolean known = e instanceof MadeleineException && e.getMessage() != null;
        command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + (known ? e.getMessage() : e));
        if (result.hasSubcommand() && result.subcommand().hasMatchedOption(GeneralOptions.VERBOSE)) {
            e.printStackTrace(command.getErr());
        }
        return FAILURE;
    }
}
