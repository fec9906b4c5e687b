package io.madeleine.bench;

import io.madeleine.bench.history.Turns;
import io.madeleine.bench.report.Rows;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Measures this build and another build of Madeleine alternately, and reports ratios, so that changes of the machine's
 * speed affect both alike. Each turn starts new processes, since the two builds share none.
 *
 * <p>Threading: confined to caller.
 */
final class BesideRuns {
    /** The options with a value that are not passed on to the turns. */
    private static final Set<String> NOT_OF_A_TURN = Set.of(BesideRuns.OPTION, "--rounds", "--json");

    /** The option that asks for another build. */
    static final String OPTION = "--beside";

    private static final String COMMAND = "mad";

    private final Path home;
    private final List<String> arguments;
    private final PrintWriter err;

    /**
     * Another build beside this one.
     *
     * @param home the folder of the other one's sources, with its command {@code mad}
     * @param given all arguments of {@code mad perf}
     * @param err where progress goes
     */
    BesideRuns(Path home, List<String> given, PrintWriter err) {
        this.home = home;
        this.arguments = ofATurn(given);
        this.err = err;
    }

    /** Whether there is a build, or at least the command that makes one. */
    static boolean isHome(Path folder) {
        return Files.isExecutable(folder.resolve(COMMAND));
    }

    /** The arguments that are passed on to each turn. */
    static List<String> ofATurn(List<String> given) {
        List<String> left = new ArrayList<>();
        for (Iterator<String> rest = given.iterator(); rest.hasNext(); ) {
            String argument = rest.next();
            if (NOT_OF_A_TURN.contains(argument)) {
                rest.next();
            } else if (NOT_OF_A_TURN.stream().noneMatch(option -> argument.startsWith(option + "="))) {
                left.add(argument);
            }
        }
        left.addAll(List.of("--rounds", "1", "--json", "-"));
        return List.copyOf(left);
    }

    /** Runs this many turns; the builds take turns in going first. Returns whether all could be measured. */
    boolean measure(int turns, PrintWriter out) throws IOException {
        Turns found = new Turns();
        boolean complete = true;
        for (int turn = 0; turn < turns; turn++) {
            err.println("mad perf: turn " + (turn + 1) + " of " + turns);
            boolean otherFirst = turn % 2 == 0;
            complete &= otherFirst ? other(found) : own(found);
            complete &= otherFirst ? own(found) : other(found);
        }
        found.print(out, home.toString());
        return complete;
    }

    private boolean own(Turns found) {
        StringWriter lines = new StringWriter();
        int code = new PerfTool().run(new PrintWriter(lines), err, arguments.toArray(String[]::new));
        found.addOwn(Rows.of(lines.toString().lines().toList(), "the rows of this build"));
        return code == 0;
    }

    private boolean other(Turns found) throws IOException {
        List<String> command =
                new ArrayList<>(List.of(home.resolve(COMMAND).toAbsolutePath().toString(), "perf"));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).start();
        process.getOutputStream().close();
        Thread said = Thread.ofVirtual().start(() -> tell(process));
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8);
                Stream<String> lines = reader.lines()) {
            found.addOther(Rows.of(lines.toList(), "the rows of " + home));
            int code = process.waitFor();
            said.join();
            return code == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            process.destroy();
        }
    }

    private void tell(Process process) {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            reader.lines().forEach(err::println);
        } catch (IOException _) {
            // it has ended; its exit code says how
        }
    }
}
