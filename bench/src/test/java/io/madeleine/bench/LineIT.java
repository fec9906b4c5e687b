package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.typesafe.config.Config;
import io.madeleine.bench.measure.Line;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The patterns over a line between two hosts, with real processes in network namespaces; of the figures only what no
 * machine changes is judged.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class LineIT {
    private static void assumeLines() {
        Optional<String> absence = Line.absence();
        assumeTrue(absence.isEmpty(), () -> absence.orElse(""));
    }

    private static void assertShares(PerfCall run, String network, String... patterns) {
        List<Config> rows = run.of("protocol", network);
        assertEquals(
                List.of(patterns),
                rows.stream().map(row -> row.getString("pattern")).toList(),
                run.err());
        for (Config row : rows) {
            assertEquals("%", row.getString("unit"));
            assertTrue(row.getDouble("min") > 0 && row.getDouble("median") < 101, row.toString());
        }
    }

    @Test
    @Tag("measures")
    void shouldMeasureWhatALineCarriesWithLossesAndFromManySenders() throws Exception {
        assumeLines();
        PerfCall run = PerfCall.of("--protocol bip,tcp,sci --pattern goodput,goodput-incast --sizes 64KiB --rounds 1"
                + " --seconds 0.2 --json -");
        assertEquals(0, run.code(), run.err());
        assertShares(run, "bip", "goodput", "goodput-incast");
        assertShares(run, "tcp", "goodput-incast");
        assertEquals(
                List.of("goodput: it has no datagrams of its own to lose (madeleine.tm.tcp.faults); bip has"),
                reasons(run, "tcp"));
        assertEquals(
                List.of("goodput: its processes share a host", "goodput-incast: its processes share a host"),
                reasons(run, "sci"));
        String own = "mad-perf-" + Long.toString(ProcessHandle.current().pid(), 36) + "-";
        assertFalse(namespaces().contains(own), "a line was left behind");
    }

    private static List<String> reasons(PerfCall run, String network) {
        return run.of("absent", network).stream()
                .map(row -> row.getString("reason"))
                .toList();
    }

    private static String namespaces() throws Exception {
        Process list = new ProcessBuilder("ip", "netns", "list").start();
        return new String(list.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldDeleteTheLineOfAProcessThatWasKilled() throws Exception {
        assumeLines();
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        String left = "mad-perf-" + Long.toString(ended.pid(), 36) + "-0-0";
        assertEquals(0, new ProcessBuilder("ip", "netns", "add", left).start().waitFor());
        new Line().close();
        assertFalse(namespaces().contains(left), left);
    }

    @Test
    void shouldRefuseToPinWhatTheKernelHasToCarry() {
        PerfCall pinned = PerfCall.of("--protocol bip --pattern goodput --pin");
        assertEquals(2, pinned.code());
        assertTrue(pinned.err().contains("--pin: the patterns goodput"), pinned.err());
    }
}
