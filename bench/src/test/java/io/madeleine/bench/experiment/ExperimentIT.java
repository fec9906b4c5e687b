package io.madeleine.bench.experiment;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.bench.PerfTool;
import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.peer.Peers;
import io.madeleine.session.SessionInfo;
import io.madeleine.session.SessionInfo.Protocol;
import io.madeleine.switching.SelectionTable;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExperimentIT {
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
        assertTrue(lines.get(1).matches("armci-fig4 +ARMCI over GM \\(Myrinet\\) +Figure 4, .* +ready"), lines.get(1));
        assertTrue(
                lines.get(2).matches("madeleine2-fig4 +Madeleine II \\(RR-3976, 2000\\) +Figure 4, .* +ready"),
                lines.get(2));
        assertEquals(
                Experiments.ids().size(), Experiments.ids().stream().distinct().count());
    }

    @Test
    void shouldKnowAllPeersOfAllExperiments() {
        for (Experiment experiment : Experiments.ALL) {
            experiment.setUp().peers().forEach(peer -> assertEquals(Optional.empty(), Peers.complaint(peer)));
            experiment
                    .original()
                    .quotes()
                    .forEach(quote -> assertTrue(experiment.setUp().patterns().contains(quote.pattern())));
        }
    }

    /** Whatever else sci prefers by default: what is compared here are the cells. */
    @Test
    void shouldSendAllBlocksThroughTheBuffersThatAreCompared() {
        SetUp setUp = Experiments.of("madeleine2-buffers").orElseThrow().setUp();
        for (Variation variation : setUp.variations()) {
            SelectionTable table = SessionInfo.of(variation.settings())
                    .protocol("sci")
                    .flatMap(Protocol::selection)
                    .orElseThrow();
            for (long bytes : setUp.sizes()) {
                int link = table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                assertEquals("sci/regular", table.modules().get(link).id(), variation.name() + ", " + bytes);
            }
        }
    }

    /** Each curve but the last is one module, whatever the size. */
    @Test
    void shouldSendAllBlocksThroughTheModuleThatTheCurveNames() {
        SetUp setUp = Experiments.of("madeleine2-fig4").orElseThrow().setUp();
        for (Variation variation : setUp.variations()) {
            List<String> settings = new ArrayList<>(variation.settings());
            settings.add("tm.via.adapters.default.provider=shm");
            SelectionTable table = SessionInfo.of(settings)
                    .protocol("via")
                    .flatMap(Protocol::selection)
                    .orElseThrow();
            for (long bytes : setUp.sizes()) {
                int link = table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
                String id = table.modules().get(link).id();
                assertTrue(
                        variation.name().equals("adaptive") || id.equals("via/" + variation.name()),
                        variation.name() + ", " + bytes + ": " + id);
            }
        }
    }

    @Test
    void shouldSayWhichExperimentsThereAre() {
        assertEquals(2, perf("--experiment", "fig99"));
        assertTrue(
                err.toString().contains("expected one of armci-fig4, madeleine2-fig4, madeleine2-fig4-pinned"),
                err.toString());
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

    /** A misspelt key would show no sooner than somebody runs the experiment. */
    @Test
    void shouldHaveSettingsThatASessionTakes() {
        for (Experiment experiment : Experiments.ALL) {
            for (Variation variation : experiment.setUp().variations()) {
                assertDoesNotThrow(
                        () -> SessionInfo.of(variation.settings()), experiment.id() + ", " + variation.name());
            }
        }
    }

    /** By settings and options of the JVM with both layers, and by settings alone; the others differ in settings. */
    private static List<String> measured() {
        return Boolean.getBoolean("thorough")
                ? List.of("nemesis-ablations", "open-mx-fig6", "open-mx-fig7", "progress")
                : List.of("nemesis-ablations", "open-mx-fig6");
    }

    /** All that sci needs alone, very briefly, with real processes: each variation has its rows in the report. */
    @ParameterizedTest
    @MethodSource("measured")
    void shouldMeasureAllVariations(String id) throws Exception {
        Path page = directory.resolve("page.html");
        Path rows = directory.resolve("rows.jsonl");
        Experiment experiment = Experiments.of(id).orElseThrow();
        List<String> all = experiment.setUp().patterns();
        List<String> patterns = all.subList(Math.max(0, all.size() - 2), all.size()); // the others, PerfIT has
        int code = perf(
                "--experiment",
                id,
                "--pattern",
                String.join(",", patterns),
                "--seconds",
                "0.05",
                "--rounds",
                "1",
                "--sizes",
                "8192",
                "--report",
                page.toString(),
                "--json",
                rows.toString());
        assertEquals(0, code, err.toString());
        String text = Files.readString(page);
        List<String> kept = Files.readAllLines(rows);
        String ratio = switch (id) {
            case "progress" -> "rate +8 KiB +[0-9.]+  sci \\(hint cpu.* / sci \\(alone.*";
            case "open-mx-fig6" -> "pingpong +8 KiB +[0-9.]+  sci \\(pipeline.* / sci \\(eager.*";
            default -> ".*";
        };
        assertTrue(out.toString().lines().anyMatch(line -> line.matches(ratio)), out.toString());
        for (Variation variation : experiment.setUp().variations()) {
            if (err.toString().contains("'" + variation.name() + "' is left out: ")) {
                continue; // no single copy here
            }
            String setup = "\"setup\":\"" + variation.name();
            long expected = (experiment.setUp().layers() ? 2L : 1L) * patterns.size();
            assertEquals(
                    expected, kept.stream().filter(line -> line.contains(setup)).count(), variation.name());
            assertTrue(text.contains("data-name=\"sci " + variation.name()), variation.name());
        }
        experiment.original().quotes().stream()
                .filter(quote -> patterns.contains(quote.pattern()))
                .forEach(quote -> assertTrue(text.contains("<dd>" + quote.value()), quote.value()));
    }

    /** All eight at once are for people; here, whether there are as many processes as were asked for. */
    @Test
    void shouldReceiveFromSeveralSendersAtOnce() throws Exception {
        Path page = directory.resolve("page.html");
        Path rows = directory.resolve("rows.jsonl");
        int code = perf(
                "--experiment",
                "nemesis-senders",
                "--senders",
                "1,3",
                "--seconds",
                "0.05",
                "--rounds",
                "1",
                "--sizes",
                "8",
                "--report",
                page.toString(),
                "--json",
                rows.toString());
        assertEquals(0, code, err.toString());
        String kept = Files.readString(rows);
        assertTrue(kept.contains("\"setup\":\"1 sender\"") && kept.contains("\"setup\":\"3 senders\""), kept);
        assertTrue(Files.readString(page).contains("data-name=\"sci 3 senders\""));
        assertEquals(2, perf("--pattern", "incast", "--senders", "0"));
        assertTrue(err.toString().contains("--senders 0: expected 1 to 64"), err.toString());
    }

    /** A flag that nothing reads would measure the same thing twice under two names. */
    @Test
    void shouldSwitchOffWhatTheAblationsName() throws Exception {
        List<String> options = Experiments.of("nemesis-ablations").orElseThrow().setUp().variations().stream()
                .flatMap(variation -> variation.javaOptions().stream())
                .toList();
        assertEquals(2, options.size());
        String ring = flag("io.madeleine.tm.sci.link.RingLayout", "CACHES_POSITIONS", options);
        String copy = flag("io.madeleine.pmm.spi.Blocks", "BY_WORD", options);
        assertEquals(List.of("false", "false"), List.of(ring, copy));
    }

    /** The value of a static field in a JVM with these options. */
    private static String flag(String type, String field, List<String> options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), StaticField.class.getName(), type, field));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("JDK_JAVA_OPTIONS"); // that a JVM takes them is something it says
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        return said.strip();
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
