package io.madeleine.bench;

import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Subject;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Measures subjects in interleaved rounds: in each round, each row of one pattern and size is measured for all subjects
 * before the next one, so that what the machine does meanwhile happens to all of them.
 *
 * <p>Threading: confined to caller, but for {@link #abandon}.
 */
final class PerfRun {
    /** The part of a row's time that its first round warms up. */
    private static final double WARM_UP = 0.25;

    /** The part of each later measurement that does not count. */
    private static final double LATER_WARM_UP = 0.1;

    /** Before the first round each subject runs for so many rows' time, but at most for a second. */
    private static final double BEFORE = 0.5;

    private static final double LONGEST_BEFORE_S = 1;

    private final Plan plan;
    private final PrintWriter err;
    private final List<Subject> subjects = new ArrayList<>();
    private final Map<Cell, List<Round>> results = new HashMap<>();
    private final Calibration calibration;
    private boolean complete = true;
    private volatile boolean abandoned;

    /**
     * What to measure.
     *
     * @param patterns in which patterns
     * @param sizes with messages of which sizes
     * @param seconds how long a row takes, over all rounds
     * @param rounds how many rounds
     * @param buffers in which memory the messages are
     * @param usage whether processor time and context switches are of interest
     */
    record Plan(List<Pattern> patterns, List<Long> sizes, double seconds, int rounds, Buffers buffers, boolean usage) {
        /** Sorted, each once. */
        Plan {
            patterns = patterns.stream().distinct().sorted().toList();
            sizes = sizes.stream().distinct().sorted().toList();
        }

        /** What one round does for a row. */
        Order order(Pattern pattern, long bytes, int round) {
            double durationS = seconds * (1 - WARM_UP) / rounds;
            double warmS = LATER_WARM_UP * durationS;
            if (round == 0) {
                durationS += seconds * WARM_UP;
                warmS = seconds * WARM_UP;
            }
            return new Order(pattern.measured(), bytes, ns(durationS), ns(warmS), buffers, usage);
        }

        /** What each subject does before the first round. */
        Order before() {
            double durationS = Math.min(LONGEST_BEFORE_S, BEFORE * seconds);
            return new Order(
                    patterns.getFirst().measured(), sizes.getFirst(), ns(durationS), ns(durationS / 2), buffers, usage);
        }

        private static long ns(double seconds) {
            return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
        }
    }

    private record Cell(Subject subject, Pattern pattern, long bytes) {}

    PerfRun(Plan plan, Calibration calibration, PrintWriter err) {
        this.plan = plan;
        this.calibration = calibration;
        this.err = err;
    }

    /** Whether every row that was asked for is there. */
    boolean complete() {
        return complete;
    }

    /** Opens the subjects, measures them all, and closes them. */
    void measure(List<? extends Subject> asked) {
        subjects.addAll(asked);
        Thread hook = Thread.ofPlatform().unstarted(this::abandon);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            Set<Subject> good = new LinkedHashSet<>(asked);
            calibration.look();
            good.removeIf(subject -> !open(subject));
            for (int round = 0; round < plan.rounds() && !good.isEmpty() && !abandoned; round++) {
                round(round, good);
                calibration.look();
            }
        } finally {
            closeAll();
            remove(hook);
        }
    }

    private boolean open(Subject subject) {
        if (abandoned) {
            return false;
        }
        err.println("mad perf: starting " + title(subject));
        return succeeds(subject, () -> {
            long smallest = plan.sizes().getFirst();
            subject.open(plan.buffers().memoryBytes(plan.sizes().getLast()));
            if (subject.has(plan.patterns().getFirst().measured(), smallest)) {
                subject.measure(plan.before());
            }
        });
    }

    private void round(int round, Set<Subject> good) {
        err.println("mad perf: round " + (round + 1) + " of " + plan.rounds());
        for (Pattern pattern : plan.patterns()) {
            for (long bytes : plan.sizes()) {
                good.removeIf(subject -> !abandoned
                        && subject.has(pattern.measured(), bytes)
                        && !succeeds(subject, () -> take(round, new Cell(subject, pattern, bytes))));
            }
        }
    }

    private void take(int round, Cell cell) {
        Round measured = cell.subject().measure(plan.order(cell.pattern(), cell.bytes(), round));
        Round result = cell.pattern() == Pattern.PINGPONG ? measured.asBandwidth(cell.bytes()) : measured;
        List<Round> soFar = results.computeIfAbsent(cell, _ -> new ArrayList<>());
        soFar.add(result);
        if (round == plan.rounds() - 1) {
            err.println("  " + title(cell.subject()) + " " + cell.pattern().word() + " "
                    + PerfTable.size(cell.bytes()) + ": "
                    + Json.plain(Figures.of(soFar).median()) + " "
                    + cell.pattern().unit());
        }
    }

    /** Whether it went well; if not, the subject is closed and its remaining rows are left out. */
    private boolean succeeds(Subject subject, Runnable step) {
        try {
            step.run();
            return true;
        } catch (MeasuringException e) {
            if (!abandoned) {
                err.println("mad perf: " + title(subject) + " was not measured to the end: " + e.getMessage());
            }
            complete = false;
            results.keySet()
                    .removeIf(cell -> cell.subject() == subject
                            && results.getOrDefault(cell, List.of()).size() < plan.rounds());
            subject.close();
            return false;
        }
    }

    private static String title(Subject subject) {
        return subject.name() + subject.variant().suffix();
    }

    /** This process is asked to end. */
    private void abandon() {
        abandoned = true;
        closeAll();
    }

    private void closeAll() {
        subjects.forEach(Subject::close);
    }

    private static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // this process is ending already, and the hook is at work
        }
    }

    /** Subject after subject, pattern after pattern, size after size. */
    List<PerfRow> rows() {
        boolean noisy = noise().most();
        List<PerfRow> rows = new ArrayList<>();
        for (Subject subject : subjects) {
            for (Pattern pattern : plan.patterns()) {
                for (long bytes : plan.sizes()) {
                    List<Round> rounds = results.getOrDefault(new Cell(subject, pattern, bytes), List.of());
                    if (!rounds.isEmpty()) {
                        rows.add(new PerfRow(label(subject, bytes), pattern, bytes, Figures.of(rounds), noisy));
                    }
                }
            }
        }
        return rows;
    }

    private PerfRow.Label label(Subject subject, long bytes) {
        return new PerfRow.Label(
                subject.kind(),
                subject.name(),
                subject.transmissionModule(bytes),
                subject.variant(),
                plan.buffers() == Buffers.SAME
                        ? Optional.empty()
                        : Optional.of(plan.buffers().word()));
    }

    /** The medians bear with some noisy rounds, but not with half of them. */
    Machine.Noise noise() {
        List<Integer> noisy = calibration.noisyRounds();
        return new Machine.Noise(
                calibration.spread(),
                noisy.stream().map(round -> round + 1).toList(),
                2 * noisy.size() >= plan.rounds());
    }
}
