package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code mad perf --pattern register} with real processes; of the figures only what no machine changes is judged. The
 * command runs in a JVM of its own where it needs native access, as {@code via} does.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class RegisterIT {
    private static final String BRIEFLY = " --pattern register --rounds 1 --seconds 0.1 --json rows.jsonl";

    @TempDir
    Path directory;

    private record Run(int code, String out, String err, List<Config> rows) {
        /** The least by size of what has this name and setup: other programs may run beside. */
        double least(String name, String setup, long bytes) {
            List<Config> found = rows.stream()
                    .filter(row -> row.hasPath("sizeBytes")
                            && row.getString("name").equals(name)
                            && row.getLong("sizeBytes") == bytes
                            && (row.hasPath("setup") ? row.getString("setup") : "").equals(setup))
                    .toList();
            assertEquals(1, found.size(), name + " " + setup + " " + bytes + "\n" + rows + "\n" + err);
            Config row = found.getFirst();
            assertEquals("register us", row.getString("pattern") + " " + row.getString("unit"));
            assertTrue(0 < row.getDouble("min") && row.getDouble("min") <= row.getDouble("median"), row.toString());
            return row.getDouble("min");
        }

        List<String> names() {
            return rows.stream()
                    .map(row -> row.getString("kind")
                            + (row.hasPath("name") ? " " + row.getString("name") : "")
                            + (row.hasPath("setup") ? " " + row.getString("setup") : ""))
                    .distinct()
                    .toList();
        }
    }

    private Run perf(String line) throws IOException, InterruptedException {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dmad.module-path=" + System.getProperty("mad.module-path"),
                "-cp",
                System.getProperty("java.class.path"),
                PerfMain.class.getName()));
        command.addAll(List.of(line.split(" ")));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        int code = process.waitFor();
        Path rows = directory.resolve("rows.jsonl");
        List<Config> found = Files.exists(rows)
                ? Files.readAllLines(rows).stream()
                        .map(ConfigFactory::parseString)
                        .toList()
                : List.of();
        return new Run(code, Files.readString(out), Files.readString(err), found);
    }

    private static void assumeOn(Run run) {
        Assumptions.assumeFalse(run.err().contains("via:shm is off: "), run.err());
    }

    /** The setting reaches our process and the program in C, without peers that are named. */
    @Test
    @Tag("measures")
    void shouldRegisterLockedPagesBesideACopyAndTheProgramInC() throws Exception {
        Run run = perf("--protocol via:shm --sizes 4096,1MiB --set tm.via.pin=mlock" + BRIEFLY);
        assumeOn(run);
        assertEquals(0, run.code(), run.err());
        assertGrowth(run, "via:shm", "pin = mlock");
        assertGrowth(run, "via:shm", "copied instead");
        assertRatio(run, "via:shm (pin = mlock) / via:shm (copied instead)");
        if (run.names().contains("absent fabric:shm")) {
            assertEquals(3, run.names().size(), run.names().toString());
            return;
        }
        assertGrowth(run, "fabric:shm", "");
        assertGrowth(run, "fabric:shm", "pin = mlock");
        assertRatio(run, "via:shm (pin = mlock) / fabric:shm (pin = mlock)");
        assertEquals(4, run.names().size(), run.names().toString());
    }

    /** To lock the pages of 1 MiB costs more than to note where they are. */
    @Test
    @Tag("measures")
    void shouldRedoTheFigureOfArmciWithAndWithoutLockedPages() throws Exception {
        Run run = perf("--experiment armci-fig4 --sizes 4096,1MiB --report page.html" + BRIEFLY);
        assumeOn(run);
        assertEquals(0, run.code(), run.err());
        List<String> measured =
                run.names().contains("absent fabric:shm") ? List.of("via:shm") : List.of("via:shm", "fabric:shm");
        for (String name : measured) {
            assertGrowth(run, name, "");
            assertGrowth(run, name, "pin = mlock");
            assertTrue(run.least(name, "pin = mlock", 1 << 20) > 2 * run.least(name, "", 1 << 20), run.out());
            assertRatio(run, "via:shm / " + name + (name.equals("via:shm") ? " (copied instead)" : ""));
        }
        assertGrowth(run, "via:shm", "copied instead");
        assertTrue(run.names().contains("experiment"), run.names().toString());
        String page = Files.readString(directory.resolve("page.html"));
        for (String part :
                List.of("<h2>Registering memory</h2>", "data-name=\"via:shm pin = mlock\"", "<dd>411 MB/s</dd>")) {
            assertTrue(page.contains(part), part);
        }
    }

    private static void assertGrowth(Run run, String name, String setup) {
        double smallUs = run.least(name, setup, 4096);
        double largeUs = run.least(name, setup, 1 << 20);
        assertTrue(largeUs > smallUs / 10, name + " " + setup + ": " + smallUs + ", " + largeUs);
    }

    private static void assertRatio(Run run, String of) {
        assertTrue(
                run.out().lines().anyMatch(line -> line.matches("register +1 MiB +[0-9.]+  " + Pattern.quote(of))),
                of + "\n" + run.out());
    }

    @Test
    void shouldSayWhichNetworksRegisterMemoryWhenOneDoesNot() {
        String why =
                "it registers no memory: its adapters have no one-sided access (RemoteMemory); sci and via have it";
        PerfCall some =
                PerfCall.of("--protocol tcp,sci --sizes 4096 --pattern register --rounds 1 --seconds 0.05 --json -");
        assertEquals(0, some.code(), some.err());
        assertEquals(2, some.of("protocol", "sci").size(), some.err());
        assertEquals(why, some.of("absent", "tcp").getFirst().getString("reason"));
        PerfCall none = PerfCall.of("--protocol tcp --pattern register --json -");
        assertEquals(1, none.code());
        assertTrue(none.err().contains("tcp is left out: " + why), none.err());
        assertTrue(
                none.err().contains("none of the networks that are on has such a pattern here, nothing to measure"),
                none.err());
        assertEquals(List.of(), none.rows());
    }

    /** One process that registers the same memory each time has no others, and no other memory. */
    @Test
    void shouldRefuseOptionsThatMakeNoSense() {
        PerfCall rotate = PerfCall.of("--protocol sci --pattern register --buffers rotate");
        assertEquals(2, rotate.code());
        assertTrue(rotate.err().contains("--buffers rotate: expected same with the patterns register"), rotate.err());
        PerfCall ranks = PerfCall.of("--protocol sci --pattern register --ranks 3");
        assertEquals(2, ranks.code());
        assertTrue(ranks.err().contains("--ranks 3: "), ranks.err());
        PerfCall senders = PerfCall.of("--protocol sci --pattern incast,latency --senders 1,3");
        assertEquals(2, senders.code());
        assertTrue(senders.err().contains("--senders above 1: expected only the pattern incast"), senders.err());
    }
}
