package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.bench.measure.Subject.Kind;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.bench.measure.Usage;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RegisterRatiosTest {
    private static PerfRow row(Kind kind, String name, String setup, String pattern, double median) {
        Optional<String> title = Optional.of(setup).filter(words -> !words.isEmpty());
        return new PerfRow(
                new PerfRow.Label(
                        kind,
                        name,
                        Optional.empty(),
                        new Variant(Optional.empty(), Optional.empty(), title),
                        Optional.empty()),
                Patterns.of(pattern),
                4096,
                new Figures(median, median, median, median, List.of(median), Usage.UNKNOWN),
                false);
    }

    private static List<String> lines(List<PerfRow> rows) {
        StringWriter out = new StringWriter();
        RegisterRatios.print(new PrintWriter(out), rows);
        return out.toString()
                .lines()
                .map(line -> line.replaceAll(" +", " "))
                .filter(line -> !line.isEmpty())
                .toList();
    }

    /** Locked pages with locked pages, a provider with itself, a network with its own copy. */
    @Test
    void shouldCompareWithACopyAndWithTheSameInC() {
        assertEquals(
                List.of(
                        "medians of registrations, divided by those of a copy and of C:",
                        "register 4 KiB 0.50 via:shm / via:shm (copied instead)",
                        "register 4 KiB 4.00 via:shm / fabric:shm",
                        "register 4 KiB 1.50 via:shm (pin = mlock) / via:shm (copied instead)",
                        "register 4 KiB 2.00 via:shm (pin = mlock) / fabric:shm (pin = mlock)",
                        "register 4 KiB 1.50 sci / sci (copied instead)"),
                lines(List.of(
                        row(Kind.PROTOCOL, "via:shm", "", "register", 2),
                        row(Kind.PROTOCOL, "via:shm", "pin = mlock", "register", 6),
                        row(Kind.PROTOCOL, "via:shm", "copied instead", "register", 4),
                        row(Kind.PROTOCOL, "via:shm", "", "latency", 1),
                        row(Kind.PROTOCOL, "sci", "", "register", 3),
                        row(Kind.PROTOCOL, "sci", "copied instead", "register", 2),
                        row(Kind.PEER, "fabric:shm", "", "register", 0.5),
                        row(Kind.PEER, "fabric:shm", "", "latency", 1),
                        row(Kind.PEER, "fabric:shm", "pin = mlock", "register", 3),
                        row(Kind.PEER, "fabric:net", "", "register", 1))));
    }

    @Test
    void shouldPrintNothingOfOtherPatterns() {
        assertEquals(
                List.of(),
                lines(List.of(
                        row(Kind.PROTOCOL, "via:shm", "", "latency", 2),
                        row(Kind.PEER, "fabric:shm", "", "latency", 1))));
    }
}
