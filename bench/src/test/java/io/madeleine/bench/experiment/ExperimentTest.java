package io.madeleine.bench.experiment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.PerfTool;
import io.madeleine.bench.peer.Peers;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExperimentTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int perf(String... arguments) {
        return new PerfTool().run(new PrintWriter(out), new PrintWriter(err, true), arguments);
    }

    @Test
    void shouldListAllWithPaperFigureAndStatus() {
        assertEquals(0, perf("--experiments"), err.toString());
        List<String> lines = out.toString().lines().toList();
        assertEquals(Experiments.ALL.size() + 1, lines.size());
        assertTrue(
                lines.get(1).matches("madeleine2-fig5 +Madeleine II \\(RR-3976, 2000\\) +Figure 5, .* +ready"),
                lines.get(1));
        assertEquals(
                Experiments.ids().size(), Experiments.ids().stream().distinct().count());
    }

    @Test
    void shouldKnowAllPeersOfAllExperiments() {
        for (Experiment experiment : Experiments.ALL) {
            experiment.setUp().peers().forEach(peer -> assertTrue(Peers.of(peer).isPresent(), peer));
            experiment
                    .original()
                    .quotes()
                    .forEach(quote -> assertTrue(experiment.setUp().patterns().contains(quote.pattern())));
        }
    }

    @Test
    void shouldSayWhichExperimentsThereAre() {
        assertEquals(2, perf("--experiment", "fig99"));
        assertTrue(err.toString().contains("expected one of madeleine2-fig5, madeleine2-fig6"), err.toString());
    }

    /** Two processes each, for real; and once more from the rows that were kept. */
    @Test
    void shouldRedoAFigureBesideTheRawWayAndQuoteTheOriginal() throws Exception {
        Path page = directory.resolve("fig6.html");
        Path rows = directory.resolve("rows.jsonl");
        int code = perf(
                "--experiment",
                "madeleine2-fig6",
                "--seconds",
                "0.1",
                "--rounds",
                "1",
                "--sizes",
                "8,65536",
                "--report",
                page.toString(),
                "--json",
                rows.toString());
        assertEquals(0, code, err.toString());
        checkPage(page);
        List<String> kept = new ArrayList<>(Files.readAllLines(rows));
        assertEquals(
                1, kept.stream().filter(line -> line.contains("\"experiment\"")).count());
        assertEquals(
                4,
                kept.stream().filter(line -> line.contains("\"raw-mailbox\"")).count());
        Path again = directory.resolve("again.html");
        assertEquals(0, perf("--from", rows.toString(), "--report", again.toString()), err.toString());
        checkPage(again);
    }

    private static void checkPage(Path page) throws Exception {
        String text = Files.readString(page);
        for (String part : List.of(
                "<h1>Latency and bandwidth over SISCI</h1>",
                "<dd>3.9 µs</dd>",
                "<dd>82 MB/s</dd>",
                "data-name=\"sci\"",
                "data-name=\"raw-mailbox\"")) {
            assertTrue(text.contains(part), part);
        }
    }
}
