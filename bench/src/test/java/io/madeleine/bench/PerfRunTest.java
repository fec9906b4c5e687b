package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Usage;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The order of measurements, with subjects that only say what they were asked. */
class PerfRunTest {
    private final List<String> asked = new ArrayList<>();
    private final StringWriter err = new StringWriter();

    private final class Told implements Subject {
        private final String name;
        private final long largest;
        private final int failsAt;
        private int measured = -1; // the first one is before the rounds
        private int opened;
        private int opensOften = 99;
        private boolean open;

        Told(String name, long largest, int failsAt) {
            this.name = name;
            this.largest = largest;
            this.failsAt = failsAt;
        }

        @Override
        public Kind kind() {
            return Kind.PEER;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public Optional<String> absence() {
            return Optional.empty();
        }

        @Override
        public boolean has(Pattern pattern, long bytes) {
            return bytes <= largest;
        }

        @Override
        public void open(long memoryBytes) {
            if (opened++ == opensOften) {
                throw new MeasuringException("it does not start");
            }
            open = true;
        }

        @Override
        public Round measure(Order order) {
            assertTrue(open);
            if (measured++ == failsAt) {
                throw new MeasuringException("it broke");
            }
            if (measured > 0) {
                asked.add(name + " " + order.pattern().word() + " " + order.bytes());
            }
            double median = measured;
            return new Round(1, median, median, median, List.of(median), Usage.UNKNOWN);
        }

        @Override
        public void close() {
            open = false;
        }
    }

    private PerfRun run(int rounds, List<Long> sizes, Subject... subjects) {
        return run(List.of(Pattern.RATE, Pattern.LATENCY, Pattern.RATE), rounds, sizes, subjects);
    }

    private PerfRun run(List<Pattern> patterns, int rounds, List<Long> sizes, Subject... subjects) {
        PerfRun run = new PerfRun(
                new PerfRun.Plan(patterns, sizes, 0.1, rounds, Buffers.SAME, false),
                new Calibration(() -> new Calibration.Look(1, 1)),
                "mad tune",
                new PrintWriter(err, true));
        run.measure(List.of(subjects));
        return run;
    }

    @Test
    void shouldMeasureEachRowForAllSubjectsBeforeTheNextOneInEachRound() {
        PerfRun run = run(2, List.of(64L, 8L), new Told("a", 100, 99), new Told("b", 100, 99));
        List<String> round = List.of(
                "a latency 8",
                "b latency 8",
                "a latency 64",
                "b latency 64",
                "a rate 8",
                "b rate 8",
                "a rate 64",
                "b rate 64");
        assertEquals(round, asked.subList(0, 8));
        assertEquals(round, asked.subList(8, 16));
        assertEquals(16, asked.size());
        assertTrue(run.complete());
        assertEquals(
                List.of("a 8", "a 64", "a 8", "a 64", "b 8", "b 64", "b 8", "b 64"),
                run.rows().stream().map(row -> row.title() + " " + row.bytes()).toList());
        assertEquals(List.of(1.0, 5.0), run.rows().getFirst().figures().rounds());
        assertEquals(3, run.rows().getFirst().figures().median());
    }

    @Test
    void shouldMeasureOnceWhatHasNoBlocks() {
        Pattern barrier = Pattern.ofProgramWithoutBlocks("barrier", Pattern.Measure.MICROSECONDS, "one call");
        PerfRun run = run(List.of(barrier), 1, List.of(64L, 8L), new Told("a", 100, 99));
        assertEquals(List.of("a barrier 8"), asked);
        assertTrue(run.complete());
        assertEquals(1, run.rows().size());
    }

    @Test
    void shouldLeaveOutWhatASubjectDoesNotHave() {
        PerfRun run = run(1, List.of(8L, 64L), new Told("small", 10, 99), new Told("b", 100, 99));
        assertEquals(
                List.of("small latency 8", "b latency 8", "b latency 64", "small rate 8", "b rate 8", "b rate 64"),
                asked);
        assertTrue(run.complete());
        assertEquals(6, run.rows().size());
    }

    @Test
    void shouldNotStartASubjectThatHasNoneOfTheRows() {
        Told small = new Told("small", 10, 99);
        PerfRun run = run(1, List.of(64L), small, new Told("b", 100, 99));
        assertEquals(0, small.opened);
        assertEquals(List.of("b latency 64", "b rate 64"), asked);
        assertTrue(err.toString().contains("small has none of these patterns and sizes: not started"), err.toString());
        assertTrue(run.complete());
    }

    private static List<String> titles(PerfRun run) {
        return run.rows().stream()
                .map(row -> row.title() + " " + row.pattern().word() + " "
                        + row.figures().rounds().size())
                .toList();
    }

    private static List<String> failed(PerfRun run) {
        return run.failedRows().stream().map(FailedRow::toString).toList();
    }

    @Test
    void shouldStartASubjectAnewAfterARowThatFailsAndMeasureItsOthers() {
        Told broken = new Told("broken", 100, 1);
        PerfRun run = run(2, List.of(8L), broken, new Told("b", 100, 99));
        assertFalse(run.complete());
        assertEquals(2, broken.opened);
        assertEquals(List.of("broken latency 2", "b latency 2", "b rate 2"), titles(run));
        assertEquals(List.of("broken, rate 8 B failed: it broke"), failed(run));
        assertTrue(err.toString().contains("broken rate 8 B failed: it broke"), err.toString());
        assertTrue(
                err.toString().lines().allMatch(line -> line.startsWith("mad tune: ") || line.startsWith("  ")),
                err.toString());
    }

    @Test
    void shouldWriteWhatWasMeasuredOfASubjectThatDoesNotStartAgain() {
        Told broken = new Told("broken", 100, 3); // in the second round, of two rows each
        broken.opensOften = 1;
        PerfRun run = run(3, List.of(8L), broken, new Told("b", 100, 99));
        assertFalse(run.complete());
        assertFalse(broken.open);
        assertEquals(List.of("broken latency 2", "b latency 3", "b rate 3"), titles(run));
        assertEquals(List.of("broken, rate 8 B failed: it broke"), failed(run));
        assertTrue(err.toString().contains("broken was not measured to the end: it does not start"), err.toString());
    }

    @Test
    void shouldSayOfEachRowOfASubjectThatNeverStartsWhyItIsMissing() {
        Told absent = new Told("absent", 10, 99);
        absent.opensOften = 0;
        PerfRun run = run(1, List.of(8L, 64L), absent, new Told("b", 10, 99));
        assertEquals(List.of("b latency 1", "b rate 1"), titles(run));
        assertEquals(
                List.of("absent, latency 8 B failed: it does not start", "absent, rate 8 B failed: it does not start"),
                failed(run));
        assertEquals(
                "{\"kind\":\"failed\",\"name\":\"absent\",\"pattern\":\"latency\",\"sizeBytes\":8,"
                        + "\"reason\":\"it does not start\"}",
                run.failedRows().getFirst().json());
    }

    @Test
    void shouldGoOnWhereTheWarmUpFails() {
        PerfRun run = run(1, List.of(8L), new Told("broken", 100, -1), new Told("b", 100, 99));
        assertEquals(List.of("broken rate 1", "b latency 1", "b rate 1"), titles(run));
        assertEquals(List.of("broken, latency 8 B failed: it broke"), failed(run));
    }

    @Test
    void shouldKeepTheTimeOfARowWhateverTheNumberOfRounds() {
        for (int rounds : new int[] {1, 5, 7}) {
            PerfRun.Plan plan = new PerfRun.Plan(List.of(Pattern.RATE), List.of(8L), 2, rounds, Buffers.SAME, false);
            long sumNs = 0;
            for (int round = 0; round < rounds; round++) {
                Order order = plan.order(Pattern.RATE, 8, round);
                sumNs += order.durationNs();
                assertTrue(order.warmNs() < order.durationNs());
            }
            assertEquals(2e9, sumNs, 100);
            assertEquals(5e8, plan.order(Pattern.RATE, 8, 0).warmNs(), 1);
        }
    }
}
