package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mad perf} with real processes; the figures themselves are not judged. */
class PerfIT {
    @TempDir
    Path directory;

    private record Run(int code, List<String> out, String err) {
        static Run of(String line) {
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            int code = new PerfTool().run(new PrintWriter(out), new PrintWriter(err, true), line.split(" "));
            return new Run(code, out.toString().lines().toList(), err.toString());
        }
    }

    @Test
    void shouldPrintExactlyOneJsonObjectPerRowAndNothingElse() {
        long[] sizes = Boolean.getBoolean("thorough") ? new long[] {8, 1024, 65536, 1 << 20} : new long[] {8, 1 << 20};
        Run run = Run.of("--protocol sci,tcp --sizes 1MiB,"
                + Arrays.stream(sizes).mapToObj(Long::toString).collect(Collectors.joining(","))
                + " --seconds 0.05 --json -");
        assertEquals(0, run.code(), run.err());
        Set<String> expected = new TreeSet<>();
        for (String name : List.of("sci", "tcp")) {
            for (String pattern : List.of("latency us", "bandwidth MB/s", "rate msg/s")) {
                for (long bytes : sizes) {
                    expected.add(name + " " + pattern + " " + bytes);
                }
            }
        }
        List<String> found = new ArrayList<>();
        for (String line : run.out()) {
            Config row = ConfigFactory.parseString(line);
            assertEquals("protocol", row.getString("kind"));
            assertEquals(5, row.getDoubleList("rounds").size());
            assertTrue(row.getString("transmissionModule").startsWith(row.getString("name") + "/"), line);
            assertTrue(0 < row.getDouble("min") && row.getDouble("min") <= row.getDouble("median"), line);
            // the median is that of the rounds, the percentile one of all samples, of which a slow round may have most
            assertTrue(Collections.min(row.getDoubleList("rounds")) <= row.getDouble("p99"), line);
            assertTrue(row.getDouble("min") <= row.getDouble("p99"), line);
            assertTrue(row.getDouble("p99") <= row.getDouble("max"), line);
            found.add(row.getString("name") + " " + row.getString("pattern") + " " + row.getString("unit") + " "
                    + row.getLong("sizeBytes"));
        }
        assertEquals(expected.size(), found.size());
        assertEquals(expected, new TreeSet<>(found));
    }

    @Test
    void shouldPrintATableAndWriteTheRowsIntoAFile() throws Exception {
        Path file = directory.resolve("rows.jsonl");
        Run run = Run.of("--protocol tcp --sizes 100 --pattern rate --seconds 0.1 --wait block --pin --json " + file);
        assertEquals(0, run.code(), run.err());
        assertTrue(
                run.out().getFirst().startsWith("tcp, rate in msg/s"), run.out().toString());
        assertTrue(
                run.out().getLast().matches(" +100 B +tcp/stream( +[0-9.]+){4} +[0-9]+ %( +noisy)?"),
                run.out().toString());
        assertEquals(1, Files.readAllLines(file).size());
    }

    @Test
    void shouldSkipWhatIsOffAndFailWhenNothingIsOn() {
        Run skipped = Run.of("--protocol sci,tcp --sizes 8 --pattern latency --seconds 0.05 --set tm.sci.enabled=false"
                + " --json -");
        assertEquals(0, skipped.code(), skipped.err());
        assertEquals(1, skipped.out().size());
        assertTrue(skipped.err().contains("sci is off: "), skipped.err());
        Run nothing = Run.of("--set tm.sci.enabled=false --set tm.tcp.enabled=false --set tm.via.enabled=false"
                + " --set tm.bip.enabled=false");
        assertEquals(1, nothing.code());
        assertEquals(List.of(), nothing.out());
        assertTrue(nothing.err().contains("nothing to measure"), nothing.err());
    }

    @Test
    void shouldMeasureWithoutNativeAccessWhatCanDoWithoutItAndRefuseTheRest() {
        Run run =
                Run.of("--no-native --protocol sci,tcp,tcp:epoll --sizes 8 --pattern latency --seconds 0.05 --json -");
        assertEquals(0, run.code(), run.err());
        assertEquals(
                List.of("sci", "tcp"),
                run.out().stream()
                        .map(line -> ConfigFactory.parseString(line).getString("name"))
                        .toList());
        assertTrue(run.err().contains("tcp:epoll is off: "), run.err());
        assertTrue(run.err().contains("native access is not granted"), run.err());
    }

    /** Session-allocated blocks, both processes spinning: the promise is that a message costs no heap at all. */
    @Test
    @Tag("quiet")
    @Tag("measures")
    void shouldAllocateNothingPerMessageWhileSpinning() {
        Run run = Run.of(
                "--protocol sci,tcp --sizes 8,1024,65536 --seconds 0.4 --rounds 3 --pattern latency,rate --wait spin"
                        + " --allocations --json -");
        assertEquals(0, run.code(), run.err());
        for (String line : run.out()) {
            assertEquals(0, ConfigFactory.parseString(line).getDouble("allocatedBytesPerMessage"), line);
        }
        assertEquals(12, run.out().size());
    }
}
