package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Subject.Kind;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.bench.measure.Usage;
import io.madeleine.bench.mpi.MpiBenchmarks;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MpiRatiosTest {
    private static PerfRow row(Kind kind, String name, String pattern, double median) {
        return new PerfRow(
                new PerfRow.Label(kind, name, Optional.empty(), Variant.PLAIN, Optional.empty()),
                Patterns.of(pattern),
                8,
                new Figures(median, median, median, median, List.of(median), Usage.UNKNOWN),
                false);
    }

    /** Of times the smaller one is better, of rates the larger one; TCP is compared with TCP. */
    @Test
    void shouldCompareWithTheBetterOneThatGoesTheSameWay() {
        List<PerfRow> rows = List.of(
                row(Kind.PROTOCOL, "sci", "mpi-latency", 3),
                row(Kind.PROTOCOL, "tcp", "mpi-latency", 30),
                row(Kind.PROTOCOL, "sci", "mpi-rate", 30),
                row(Kind.PROTOCOL, "sci", "latency", 1),
                row(Kind.PEER, "mpich", "mpi-latency", 4),
                row(Kind.PEER, "openmpi", "mpi-latency", 2),
                row(Kind.PEER, "openmpi-tcp", "mpi-latency", 15),
                row(Kind.PEER, "mpich", "mpi-rate", 10),
                row(Kind.PEER, "openmpi", "mpi-rate", 20),
                row(Kind.PEER, "openmpi", "latency", 1));
        StringWriter out = new StringWriter();
        MpiRatios.print(new PrintWriter(out), rows);
        assertEquals(
                List.of(
                        "medians, divided by those of the better MPI in C:",
                        "mpi-latency 8 B 1.50 sci / openmpi",
                        "mpi-latency 8 B 2.00 tcp / openmpi-tcp",
                        "mpi-rate 8 B 1.50 sci / openmpi"),
                out.toString()
                        .lines()
                        .map(line -> line.replaceAll(" +", " "))
                        .filter(line -> !line.isEmpty())
                        .toList());
    }

    @Test
    void shouldHaveEachBenchmarkInCToo() throws Exception {
        try (InputStream in = MpiRatiosTest.class.getResourceAsStream("peer/osu.c")) {
            String source = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            for (Pattern pattern : MpiBenchmarks.patterns()) {
                assertTrue(source.contains("\"" + pattern.word() + "\""), pattern.word());
            }
        }
    }
}
