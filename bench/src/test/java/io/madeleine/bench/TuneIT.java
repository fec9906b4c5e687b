package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import io.madeleine.session.SessionInfo;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mad tune} with real processes; the figures themselves are not judged. */
@Tag("measures")
class TuneIT {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        return new TuneTool().run(new PrintWriter(out), new PrintWriter(err, true), arguments);
    }

    @Test
    void shouldWriteThresholdsThatASessionTakes() {
        Path file = directory.resolve("tuned.conf");
        List<String> options = new ArrayList<>(List.of(
                "--protocol",
                "sci:two-and-more",
                "--set",
                "tm.sci.providers.two-and-more.regular.cells=16",
                "--seconds",
                "5",
                "--write",
                file.toString()));
        List<String> places = new ArrayList<>(List.of(""));
        if (Boolean.getBoolean("thorough")) {
            options.add("--loaded");
            places.add(", one of them busy");
        }
        assertEquals(0, run(options.toArray(String[]::new)), err.toString());
        for (String what : List.of(
                "half a round trip in us",
                "half a round trip of blocks of one's own in us",
                "a message of a stream in us")) {
            for (String where : places) {
                assertTrue(out.toString().lines().anyMatch(line -> line.contains(where + ": " + what)), out.toString());
            }
        }
        assertFalse(err.toString().contains("mad perf"), err.toString());
        assertTrue(out.toString().startsWith("sci:two-and-more, "), out.toString());
        assertTrue(out.toString().contains("sci/regular overtakes sci/short above"), out.toString());
        assertTrue(out.toString().contains("sci:two-and-more, SAFER blocks, "), out.toString());
        long longest = ConfigFactory.parseFile(file.toFile()).getBytes("madeleine.tm.sci.short.max-block");
        SessionInfo.Protocol sci =
                SessionInfo.of(List.of("tuned=" + file)).protocol("sci").orElseThrow();
        assertEquals(longest, sci.modules().getFirst().maxBlockBytes());
        long longestSafer = ConfigFactory.parseFile(file.toFile()).getBytes("madeleine.tm.sci.short.max-safer-block");
        assertEquals(Math.max(longest, longestSafer), sci.modules().getFirst().maxSaferBlockBytes());
        assertTrue(
                sci.thresholds().getFirst().source().startsWith("measured, "),
                sci.thresholds().toString());
    }

    @Test
    void shouldKeepAProcessorBusyUntilToldToStop() throws Exception {
        List<ProcessHandle> children;
        try (BusyProcess busy = BusyProcess.start(Optional.empty())) {
            children = ProcessHandle.current().children().toList();
            long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (cpu(children).toMillis() < 400) {
                assertTrue(busy.isAlive() && deadlineNs - System.nanoTime() > 0, "it is idle");
                Thread.sleep(20);
            }
        }
        assertTrue(children.stream().noneMatch(ProcessHandle::isAlive), "it is still there");
    }

    private static Duration cpu(List<ProcessHandle> processes) {
        return processes.stream()
                .flatMap(process -> process.info().totalCpuDuration().stream())
                .reduce(Duration.ZERO, Duration::plus);
    }

    @Test
    void shouldSayWhyNothingCanBeMeasured() {
        assertEquals(1, run("--protocol", "sci", "--set", "tm.sci.enabled=false"));
        assertTrue(err.toString().contains("sci is off: "), err.toString());
        assertEquals(1, run("--protocol", "sci,tcp", "--set", "tm.tcp.enabled=false"));
        assertTrue(err.toString().contains("tcp is off: "), err.toString());
        assertTrue(
                err.toString().lines().noneMatch(line -> line.contains(" latency ")), "measured for nothing: " + err);
        assertEquals(2, run("--seconds", "1"));
        assertEquals(2, run("--protocol", "pigeon"));
        assertTrue(err.toString().contains("pigeon: there is no such network"), err.toString());
    }

    @Test
    void shouldSayThatANetworkOfASingleModuleHasNothingToTune() {
        assertEquals(0, run("--protocol", "tcp:nio"), err.toString());
        assertEquals(
                "tcp:nio: nothing to tune, its only transmission module is tcp/stream",
                out.toString().strip());
    }

    @Test
    void shouldFailIfThereIsNothingToWrite(@TempDir Path folder) {
        Path file = folder.resolve("tuned.conf");
        assertEquals(1, run("--protocol", "tcp:nio", "--write", file.toString()), out.toString());
        assertTrue(err.toString().contains("there is nothing to write, so there is no " + file), err.toString());
        assertFalse(Files.exists(file));
    }
}
