package io.madeleine.bench.history;

import io.madeleine.bench.history.KeptRuns.Run;
import io.madeleine.bench.report.Rows;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options of {@code mad perf} that keep runs and compare with kept ones.
 *
 * <p>Threading: confined to caller.
 */
public final class HistoryOptions {
    private static final String FOLDER = "bench-history";
    private static final int REGRESSION = 3;

    @Option(
            names = "--save",
            paramLabel = "DIR",
            arity = "0..1",
            fallbackValue = FOLDER,
            description = "Keeps the rows with their time in this folder. Default: ${FALLBACK-VALUE}.")
    Optional<Path> save = Optional.empty();

    @Option(
            names = "--compare",
            paramLabel = "FILE|DIR",
            arity = "0..1",
            fallbackValue = FOLDER,
            description =
                    "Compares with a kept run, or with the last one of a folder, and shows what has changed beyond"
                            + " noise: beyond what the rounds are apart, and at least 5 %%. Default: ${FALLBACK-VALUE}.")
    Optional<Path> compare = Optional.empty();

    @Option(
            names = "--last",
            paramLabel = "N",
            defaultValue = "1",
            description = "Compares with the median of the last N runs of the folder. Default: ${DEFAULT-VALUE}.")
    int last;

    @Option(
            names = "--across",
            description = "Compares also with runs of another processor, wait mode or pinning, and says so.")
    boolean across;

    @Option(names = "--fail-on-regression", description = "Ends with exit code 3 if something has become slower.")
    boolean failOnRegression;

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    /** For picocli. */
    public HistoryOptions() {}

    /** Checks the options before anything is measured: what cannot be done is an error of usage. */
    public void check() {
        check(last >= 1, "--last " + last + ": expected 1 or more");
        check(
                compare.isPresent() || (!failOnRegression && last == 1 && !across),
                "--last, --across and --fail-on-regression need --compare");
        compare.ifPresent(path -> check(
                Files.exists(path) || save.isPresent(),
                "--compare " + path + ": there is no such file or folder; --save makes one"));
        save.ifPresent(folder -> check(
                KeptRuns.canBeIn(folder),
                "--save " + folder + " cannot be written: expected a folder, or one that may be made, where this user"
                        + " may write; looked for " + folder.toAbsolutePath()));
    }

    private void check(boolean condition, String message) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    /**
     * Compares and keeps what was asked for.
     *
     * @param lines the rows of a run
     * @param origin the file they are from, if they were kept before
     * @param complete whether nothing is missing; an incomplete run is not kept
     * @param out where the comparison goes
     * @return the exit code
     */
    public int finish(List<String> lines, Optional<Path> origin, boolean complete, PrintWriter out) throws IOException {
        Rows now = Rows.of(lines, origin.map(Path::toString).orElse("the rows of this run"));
        int code = 0;
        if (compare.isPresent()) {
            List<Run> earlier = earlier(compare.get(), origin, now);
            if (earlier.isEmpty()) {
                out.println("No earlier run to compare with.");
                out.flush();
            } else {
                Comparison comparison = Comparison.of(earlier, now);
                comparison.print(out, now);
                code = failOnRegression && comparison.regressions() > 0 ? REGRESSION : 0;
            }
        }
        if (save.isPresent()) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("mad perf: "
                    + (complete
                            ? "kept the run as "
                                    + new KeptRuns(save.get())
                                            .save(lines, now.time().orElse(Instant.now()))
                            : "the run is not complete and is not kept"));
        }
        return code;
    }

    private List<Run> earlier(Path path, Optional<Path> origin, Rows now) {
        if (Files.isRegularFile(path)) {
            Run run = Run.read(path);
            refuse(run, Comparison.obstacles(run.rows(), now));
            return List.of(run);
        }
        List<Run> all = new KeptRuns(path)
                .all().stream()
                        .filter(run -> origin.isEmpty() || !isSame(run.file(), origin.get()))
                        .toList();
        if (all.isEmpty() && save.isPresent()) {
            return List.of();
        }
        if (all.isEmpty()) {
            throw new HistoryException("no run to compare with in " + path + ": keep one with --save");
        }
        List<Run> fit = across
                ? all
                : all.stream()
                        .filter(run -> Comparison.obstacles(run.rows(), now).isEmpty())
                        .toList();
        if (fit.isEmpty()) {
            refuse(all.getLast(), Comparison.obstacles(all.getLast().rows(), now));
        }
        return fit.subList(Math.max(0, fit.size() - last), fit.size());
    }

    private static boolean isSame(Path file, Path other) {
        try {
            return Files.isSameFile(file, other);
        } catch (IOException _) {
            return false;
        }
    }

    private void refuse(Run run, List<String> obstacles) {
        if (!across && !obstacles.isEmpty()) {
            throw new HistoryException(run.file() + " cannot be compared: " + String.join("; ", obstacles)
                    + "; --across compares nevertheless");
        }
    }
}
