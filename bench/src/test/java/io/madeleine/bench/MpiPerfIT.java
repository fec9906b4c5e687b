package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.mpi.MpiBenchmarks;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mad perf --pattern mpi-...} with real processes, whose contents are checked; the figures are not judged. */
class MpiPerfIT {
    private static final List<String> BUFFERS = List.of("mpi, newByteBuffer", "mpi, plain direct", "mpi, array");

    private static final List<String> OF_ALL_BUFFERS =
            List.of("mpi-latency", "mpi-rate", "mpi-gatherv", "mpi-alltoall", "mpi-allreduce", "mpi-overlap");

    @TempDir
    Path directory;

    private record Run(int code, String out, String err) {
        static Run of(String line) {
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            int code = new PerfTool().run(new PrintWriter(out), new PrintWriter(err, true), line.split(" "));
            return new Run(code, out.toString(), err.toString());
        }
    }

    private List<Config> rows(Path file) throws Exception {
        return Files.readAllLines(file).stream().map(ConfigFactory::parseString).toList();
    }

    private static long count(List<Config> rows, Pattern pattern, String name) {
        return rows.stream()
                .filter(row ->
                        row.hasPath("pattern") && row.getString("pattern").equals(pattern.word()))
                .filter(row -> row.getString("name").equals(name))
                .count();
    }

    private static boolean isAbsent(List<Config> rows, String name) {
        return rows.stream()
                .anyMatch(row -> row.getString("kind").equals("absent")
                        && row.getString("name").equals(name));
    }

    private static Run measure(List<Pattern> patterns, String options, Path file) {
        String words = patterns.stream().map(Pattern::word).collect(Collectors.joining(","));
        return Run.of("--protocol sci --sizes 1000 --pattern " + words + " --rounds 1 --seconds 0.05 " + options
                + "--json " + file);
    }

    /** One row of each pattern for our own buffers and each MPI in C, and what ours is of the better one. */
    @Test
    void shouldMeasureEachPatternOfMpiBesideBothInC() throws Exception {
        Path file = directory.resolve("rows.jsonl");
        Run run = measure(MpiBenchmarks.patterns(), "--memory session ", file);
        assertEquals(0, run.code(), run.err());
        List<Config> rows = rows(file);
        for (Pattern pattern : MpiBenchmarks.patterns()) {
            for (String peer : List.of("sci", "mpich", "openmpi")) {
                assertEquals(isAbsent(rows, peer) ? 0 : 1, count(rows, pattern, peer), pattern + " of " + peer);
            }
        }
        if (!isAbsent(rows, "mpich") || !isAbsent(rows, "openmpi")) {
            assertTrue(run.out().contains("medians, divided by those of the better MPI in C:"), run.out());
            assertTrue(
                    run.out()
                            .lines()
                            .anyMatch(line -> line.matches(
                                    "mpi-latency +1000 B +[0-9.]+  sci \\(mpi, newByteBuffer\\) / (mpich|openmpi)")),
                    run.out());
        }
    }

    /**
     * One row of a pattern for each kind of buffers. Messages, bytes and numbers take their memory in ways of their
     * own; all patterns together are for the thorough run.
     */
    @Test
    void shouldMeasureMpiWithEachKindOfBuffers() throws Exception {
        List<Pattern> patterns = MpiBenchmarks.patterns().stream()
                .filter(pattern -> Boolean.getBoolean("thorough") || OF_ALL_BUFFERS.contains(pattern.word()))
                .toList();
        Path file = directory.resolve("rows.jsonl");
        Run run = measure(patterns, "--peers mpich ", file);
        assertEquals(0, run.code(), run.err());
        List<Config> rows = rows(file);
        for (Pattern pattern : patterns) {
            int ours = pattern.word().equals("mpi-overlap") ? 2 : 3; // arrays have no non-blocking collectives
            assertEquals(ours, count(rows, pattern, "sci"), pattern + "\n" + run.err());
            assertEquals(isAbsent(rows, "mpich") ? 0 : 1, count(rows, pattern, "mpich"), pattern + "\n" + run.err());
            assertEquals(0, count(rows, pattern, "openmpi"), pattern.word());
        }
        assertEquals(
                BUFFERS,
                rows.stream()
                        .filter(row -> row.hasPath("setup"))
                        .map(row -> row.getString("setup"))
                        .distinct()
                        .toList());
    }

    @Test
    void shouldMeasureCollectiveOperationsOfMoreProcessesThanTwo() throws Exception {
        Path file = directory.resolve("rows.jsonl");
        Run run = Run.of("--protocol tcp --sizes 4096 --pattern mpi-alltoall,mpi-allreduce,mpi-reduce-scatter,mpi-scan"
                + " --ranks 5 --memory session --rounds 1 --seconds 0.05 --json " + file);
        assertEquals(0, run.code(), run.err());
        List<Config> rows = rows(file);
        for (String name : List.of("tcp", "mpich-tcp", "openmpi-tcp")) {
            long found = rows.stream()
                    .filter(row ->
                            row.hasPath("pattern") && row.getString("name").equals(name))
                    .count();
            assertEquals(isAbsent(rows, name) ? 0 : 4, found, name + "\n" + run.err());
        }
    }

    @Test
    void shouldRefuseMoreProcessesForPatternsOfTwo() {
        Run run = Run.of("--protocol sci --sizes 8 --pattern latency,mpi-bcast --ranks 3 --seconds 0.05");
        assertEquals(2, run.code());
        assertTrue(run.err().contains("--ranks 3: expected only patterns mpi-... with it"), run.err());
        assertTrue(Run.of("--pattern mpi-bcast --ranks 1").err().contains("expected 2 to 64"));
        assertTrue(Run.of("--pattern mpi-bcats").err().contains("there is no pattern mpi-bcats"));
    }
}
