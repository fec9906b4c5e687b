package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import io.madeleine.session.SessionInfo;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code mad tune} with real processes; the figures themselves are not judged. */
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
        assertEquals(0, run("--seconds", "5", "--write", file.toString()), err.toString());
        assertTrue(out.toString().contains("sci/regular overtakes sci/short above"), out.toString());
        long longest = ConfigFactory.parseFile(file.toFile()).getBytes("madeleine.tm.sci.short.max-block");
        SessionInfo.Protocol sci =
                SessionInfo.of(List.of("tuned=" + file)).protocol("sci").orElseThrow();
        assertEquals(longest, sci.modules().getFirst().maxBlockBytes());
        assertTrue(
                sci.thresholds().getFirst().source().startsWith("measured, "),
                sci.thresholds().toString());
    }

    @Test
    void shouldSayWhyNothingCanBeMeasured() {
        assertEquals(1, run("--set", "tm.sci.enabled=false"));
        assertTrue(err.toString().contains("sci is off: "), err.toString());
        assertEquals(2, run("--seconds", "1"));
    }
}
