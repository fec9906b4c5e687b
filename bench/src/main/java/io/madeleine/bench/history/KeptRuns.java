package io.madeleine.bench.history;

import io.madeleine.bench.report.Rows;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder of runs: a file of JSON Lines each, named after its time. The first line says when, then follow the rows as
 * {@code --json} writes them.
 *
 * <p>Threading: confined to caller.
 *
 * @param folder where they are
 */
record KeptRuns(Path folder) {
    private static final String ENDING = ".jsonl";

    /** A run that was kept. */
    record Run(Path file, Rows rows) {
        Instant time() {
            return rows.time().orElse(Instant.EPOCH);
        }

        static Run read(Path file) {
            return new Run(file, Rows.read(file));
        }
    }

    /** Whether runs can be kept in this folder, which need not be there yet. Leaves nothing behind. */
    static boolean canBeIn(Path folder) {
        Path there = folder.toAbsolutePath();
        while (!Files.exists(there) && there.getParent() != null) {
            there = there.getParent();
        }
        return !folder.toString().isEmpty() && Files.isDirectory(there) && takesFiles(there);
    }

    /** Tries it: the superuser may write everywhere, but some file systems take no files. */
    private static boolean takesFiles(Path there) {
        try {
            Files.delete(Files.createTempFile(there, "madeleine", ".jsonl"));
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    /** Keeps a run. */
    Path save(List<String> lines, Instant time) throws IOException {
        Files.createDirectories(folder);
        Instant free = time.truncatedTo(ChronoUnit.MILLIS);
        while (Files.exists(file(free))) {
            free = free.plusMillis(1);
        }
        List<String> all = new ArrayList<>();
        all.add("{\"kind\":\"run\",\"time\":\"" + free + "\"}");
        lines.stream().filter(line -> !line.startsWith("{\"kind\":\"run\"")).forEach(all::add);
        Path file = file(free);
        Files.write(file, all, StandardCharsets.UTF_8);
        return file;
    }

    /** No colons: some file systems have none in names. */
    private Path file(Instant time) {
        return folder.resolve(time.toString().replace(':', '-') + ENDING);
    }

    /** All runs, the oldest first. */
    List<Run> all() {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(ENDING))
                    .sorted()
                    .map(Run::read)
                    .sorted(Comparator.comparing(Run::time))
                    .toList();
        } catch (IOException e) {
            throw new HistoryException("cannot list the kept runs in " + folder + ": " + e.getMessage());
        }
    }
}
