package io.madeleine.bench.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.bench.PerfTool;
import io.madeleine.bench.report.Samples;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mad perf --from ROWS --save --compare}: nothing is measured. */
class HistoryTest {
    private static final String SLOW = "{\"kind\":\"protocol\",\"name\":\"sci\",\"pattern\":\"%s\",\"sizeBytes\":8,"
            + "\"min\":1,\"median\":%s,\"p99\":9,\"max\":9,\"unit\":\"%s\",\"spread\":%s,\"noisy\":%s}";
    private static final String MACHINE =
            "{\"kind\":\"machine\",\"cpu\":\"A\",\"cores\":2,\"java\":\"25\",\"wait\":\"spin\",\"pinned\":true}";

    @TempDir
    Path directory;

    private Path history;
    private String out = "";
    private String err = "";

    @BeforeEach
    void chooseAFolder() {
        history = directory.resolve("kept");
    }

    private int perf(Path rows, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> all = new ArrayList<>(List.of("--from", rows.toString()));
        all.addAll(List.of(arguments));
        int code = new PerfTool().run(new PrintWriter(out), new PrintWriter(err, true), all.toArray(String[]::new));
        this.out = out.toString();
        this.err = err.toString();
        return code;
    }

    private Path rows(String machine, String... lines) throws Exception {
        Path file = Files.createTempFile(directory, "rows", ".jsonl");
        Files.write(file, Stream.concat(Stream.of(machine), Stream.of(lines)).toList());
        return file;
    }

    private static String latency(double us, double spread) {
        return SLOW.formatted("latency", us, "us", spread, false);
    }

    private void keep(String machine, String... lines) throws Exception {
        assertEquals(0, perf(rows(machine, lines), "--save", history.toString()), err);
    }

    private int compare(Path rows, String... more) {
        List<String> all = new ArrayList<>(List.of("--compare", history.toString(), "--fail-on-regression"));
        all.addAll(List.of(more));
        return perf(rows, all.toArray(String[]::new));
    }

    @Test
    void shouldRefuseAFolderThatCannotBeWrittenBeforeItMeasures() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        for (Path folder : List.of(file, file.resolve("kept"), file.resolve("a/b"), Path.of(""))) {
            assertEquals(2, perf(directory.resolve("missing rows"), "--save", folder.toString()), err);
            assertTrue(err.contains("--save " + folder + " cannot be written: expected a folder"), err);
        }
        Path deep = history.resolve("a/b");
        assertEquals(0, perf(rows(MACHINE, latency(10, 0.1)), "--save", deep.toString()), err);
        assertTrue(Files.isDirectory(deep));
    }

    @Test
    void shouldRefuseAFolderOfAFileSystemThatTakesNoFiles() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "there is no such file system here");
        assertEquals(2, perf(directory.resolve("missing rows"), "--save", "/proc/kept"), err);
        assertTrue(err.contains("--save /proc/kept cannot be written"), err);
    }

    @Test
    void shouldKeepRowsWithTheirTimeSoThatReportsCanBeMadeOfThem() throws Exception {
        assertEquals(0, perf(Samples.file(), "--save", history.toString()), err);
        Path kept;
        try (Stream<Path> files = Files.list(history)) {
            kept = files.findFirst().orElseThrow();
        }
        List<String> lines = Files.readAllLines(kept);
        assertTrue(lines.getFirst().matches("\\{\"kind\":\"run\",\"time\":\"\\d{4}-.*Z\"}"), lines.getFirst());
        assertEquals(Samples.lines(), lines.subList(1, lines.size()));
        assertEquals(0, perf(kept, "--report", directory.resolve("x.html").toString()), err);
    }

    @Test
    void shouldFindNoChangeInTheSameRows() throws Exception {
        assertEquals(0, perf(Samples.file(), "--save", history.toString()), err);
        assertEquals(0, compare(Samples.file()), err);
        long rows =
                Samples.lines().stream().filter(line -> line.contains("median")).count();
        assertTrue(out.contains(rows + " rows: 0 slower, 0 faster, " + rows + " within noise"), out);
    }

    @Test
    void shouldFlagWhatIsBeyondFivePercentAndNothingLess() throws Exception {
        keep(MACHINE, latency(1.00, 0));
        assertEquals(0, compare(rows(MACHINE, latency(1.04, 0))), out);
        assertEquals(3, compare(rows(MACHINE, latency(1.06, 0))), out);
        assertTrue(
                out.lines().anyMatch(line -> line.matches("sci +latency +8 B +1.00 µs +1.06 µs +\\+6 % +5 %  slower")),
                out);
        assertEquals(0, compare(rows(MACHINE, latency(0.9, 0))), out);
        assertTrue(out.contains("1 rows: 0 slower, 1 faster, 0 within noise"), out);
    }

    @Test
    void shouldTakeASmallerBandwidthForSlower() throws Exception {
        keep(MACHINE, SLOW.formatted("bandwidth", 1000, "MB/s", 0, false));
        assertEquals(3, compare(rows(MACHINE, SLOW.formatted("bandwidth", 900, "MB/s", 0, false))));
        assertEquals(0, compare(rows(MACHINE, SLOW.formatted("bandwidth", 1100, "MB/s", 0, false))));
    }

    @Test
    void shouldAllowForTheSpreadOfTheRoundsOfBothSides() throws Exception {
        keep(MACHINE, latency(1.00, 0.2));
        assertEquals(0, compare(rows(MACHINE, latency(1.14, 0.1))), out);
        assertEquals(3, compare(rows(MACHINE, latency(1.17, 0.1))), out);
    }

    @Test
    void shouldShowAChangeOfANoisyRowWithoutFailing() throws Exception {
        keep(MACHINE, latency(1.00, 0));
        assertEquals(0, compare(rows(MACHINE, SLOW.formatted("latency", 2, "us", 0, true))), out);
        assertTrue(out.contains("(slower, noisy)"), out);
    }

    @Test
    void shouldCompareWithTheMedianOfTheLastRuns() throws Exception {
        for (double us : new double[] {9, 1.0, 1.02, 5}) {
            keep(MACHINE, latency(us, 0));
        }
        assertEquals(0, compare(rows(MACHINE, latency(1.5, 0)), "--last", "1"), out);
        assertTrue(out.contains("1 faster"), out);
        keep(MACHINE, latency(1.01, 0));
        keep(MACHINE, latency(1.02, 0));
        assertEquals(3, compare(rows(MACHINE, latency(1.5, 0)), "--last", "2"), out);
        assertTrue(out.contains("the median of 2 runs up to "), out);
    }

    @Test
    void shouldRefuseAnotherMachineUnlessToldSo() throws Exception {
        keep(MACHINE.replace("\"A\"", "\"B\""), latency(1, 0));
        Path now = rows(MACHINE, latency(1, 0));
        assertEquals(1, compare(now));
        assertTrue(err.contains("cannot be compared: processor B before, A now; --across compares nevertheless"), err);
        assertEquals("", out);
        assertEquals(0, compare(now, "--across"), err);
        assertTrue(out.contains("NOT THE SAME: processor B before, A now"), out);
    }

    @Test
    void shouldSayThatTheSettingsDiffer() throws Exception {
        keep(MACHINE, latency(1, 0));
        String set = MACHINE.replace("}", ",\"settings\":\"tm.sci.ring=4KiB\"}");
        assertEquals(0, compare(rows(set, latency(1, 0))), err);
        assertTrue(out.contains("settings none before, tm.sci.ring=4KiB now"), out);
        assertEquals(0, compare(rows(MACHINE.replace("}", ",\"settings\":\"\"}"), latency(1, 0))), err);
        assertFalse(out.contains("settings"), out);
    }

    @Test
    void shouldPassOverRunsOfAnotherSetUpAndSayWhatElseIsNew() throws Exception {
        keep(MACHINE.replace("\"25\"", "\"24\""), latency(1, 0));
        keep(MACHINE.replace("spin", "block"), latency(30, 0));
        assertEquals(0, compare(rows(MACHINE, latency(1, 0), SLOW.formatted("rate", 1, "msg/s", 0, false))), err);
        assertTrue(out.contains("java 24 before, 25 now"), out);
        assertTrue(out.contains("1 rows: 0 slower, 0 faster, 1 within noise; 1 new"), out);
    }

    @Test
    void shouldBeginARecordWithoutAnEarlierRun() throws Exception {
        assertEquals(0, compare(rows(MACHINE, latency(1, 0)), "--save", history.toString()), err);
        assertEquals("No earlier run to compare with.", out.strip());
        assertEquals(3, compare(rows(MACHINE, latency(2, 0)), "--save", history.toString()), err);
    }

    @Test
    void shouldNotFailOnRegressionsUnlessAsked() throws Exception {
        keep(MACHINE, latency(1, 0));
        assertEquals(0, perf(rows(MACHINE, latency(2, 0)), "--compare", history.toString()), err);
        assertTrue(out.contains("1 slower"), out);
        assertEquals(2, perf(rows(MACHINE, latency(2, 0)), "--fail-on-regression"));
        assertEquals(
                2,
                perf(
                        rows(MACHINE, latency(2, 0)),
                        "--compare",
                        directory.resolve("nowhere").toString()));
        assertFalse(err.isEmpty());
    }
}
