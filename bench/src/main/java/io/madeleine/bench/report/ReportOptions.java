package io.madeleine.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The options of {@code mad perf} that make reports, and where rows may come from instead of a measurement.
 *
 * <p>Threading: confined to caller.
 */
public final class ReportOptions {
    @Option(
            names = "--report",
            paramLabel = "FILE",
            description =
                    "Writes a report: a page (FILE.html), Markdown (FILE.md) or a table (FILE.csv). May be repeated.")
    List<Path> reports = new ArrayList<>();

    @Option(
            names = "--from",
            paramLabel = "ROWS",
            description = "Measures nothing and takes the rows from this file of --json or --save.")
    Optional<Path> from = Optional.empty();

    @Spec(Spec.Target.MIXEE)
    CommandSpec spec = CommandSpec.create();

    /** For picocli. */
    public ReportOptions() {}

    /** Checks the options before anything is measured: wrong names of files are errors of usage. */
    public void check() {
        for (Path report : reports) {
            if (!Reports.isKnown(report)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "--report " + report + ": expected a name that ends with one of "
                                + String.join(", ", Reports.KINDS));
            }
            OutputFile.check(spec, "--report", report);
        }
    }

    /** What is written if the user has not asked for a report. */
    public void otherwise(Path file) {
        if (reports.isEmpty()) {
            reports = List.of(file);
        }
    }

    /** The file of rows that was named, if one was. */
    public Optional<Path> origin() {
        return from;
    }

    /** The rows of the file that was named, if one was. */
    public Optional<List<String>> kept() {
        return from.map(Rows::lines);
    }

    /** Writes what was asked for. */
    public void write(List<String> lines) throws IOException {
        if (!reports.isEmpty()) {
            Rows rows = Rows.of(lines, from.map(Path::toString).orElse("the rows of this run"));
            for (Path report : reports) {
                Reports.write(report, rows, Instant.now());
                spec.commandLine().getErr().println("mad perf: wrote " + report);
            }
        }
    }
}
