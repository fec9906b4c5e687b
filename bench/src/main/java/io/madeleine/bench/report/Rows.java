package io.madeleine.bench.report;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import io.madeleine.api.MadeleineException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The rows of a run, read from JSON Lines.
 *
 * <p>Threading: immutable.
 *
 * @param time when the rows were kept, if they were
 * @param machine where they come from
 * @param figures the rows with figures, in their order
 * @param absent the subjects or rows that are missing, and why
 * @param original what the paper says, if these are the rows of an experiment
 */
public record Rows(
        Optional<Instant> time,
        Machine machine,
        List<ReportRow> figures,
        Map<String, String> absent,
        Optional<Original> original) {
    private static final ConfigParseOptions JSON = ConfigParseOptions.defaults().setSyntax(ConfigSyntax.JSON);

    /**
     * Reads one JSON object per line; empty lines do not count.
     *
     * @param origin where the lines are from, for messages
     */
    public static Rows of(List<String> lines, String origin) {
        Optional<Instant> time = Optional.empty();
        Machine machine = Machine.UNKNOWN;
        List<ReportRow> figures = new ArrayList<>();
        Map<String, String> absent = new LinkedHashMap<>();
        Optional<Original> original = Optional.empty();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).isBlank()) {
                continue;
            }
            try {
                Config row = ConfigFactory.parseString(lines.get(i), JSON);
                switch (row.getString("kind")) {
                    case "run" -> time = Optional.of(Instant.parse(row.getString("time")));
                    case "machine" -> machine = Machine.of(row);
                    case "protocol", "peer" -> figures.add(ReportRow.of(row));
                    case "experiment" -> original = Optional.of(Original.of(row));
                    case "absent" -> absent.put(row.getString("name"), row.getString("reason"));
                    case "failed" ->
                        absent.put(
                                row.getString("name") + ", " + row.getString("pattern") + " of "
                                        + row.getLong("sizeBytes") + " bytes",
                                row.getString("reason"));
                    default ->
                        throw new BadRowsException("its kind is '" + row.getString("kind")
                                + "', expected one of run, machine, protocol, peer, absent, failed, experiment");
                }
            } catch (ConfigException | BadRowsException e) {
                throw new BadRowsException(origin + ", line " + (i + 1) + " is no row of mad perf: " + e.getMessage());
            }
        }
        return new Rows(time, machine, List.copyOf(figures), absent, original);
    }

    /** Reads a file of rows. */
    public static Rows read(Path file) {
        return of(lines(file), file.toString());
    }

    /** The lines of a file of rows. */
    public static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new BadRowsException("cannot read rows from " + file + " ("
                    + e.getClass().getSimpleName() + "): expected a file of --json or --save");
        }
    }

    /** Rows that cannot be read. */
    static final class BadRowsException extends MadeleineException {
        private static final long serialVersionUID = 1;

        BadRowsException(String message) {
            super(message);
        }
    }
}
