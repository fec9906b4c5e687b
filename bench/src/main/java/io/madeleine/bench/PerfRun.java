package io.madeleine.bench;

import io.madeleine.bench.measure.Buffers;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Subject;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
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
    /** The part of a row's time that its first round spends on warm-up. */
    private static final double WARM_UP = 0.25;

    /** The part of each later measurement that is discarded. */
    private static final double LATER_WARM_UP = 0.1;

    /** Before the first round each subject runs for this many rows' time, but at most for a second. */
    private static final double BEFORE = 0.5;

    private static final double LONGEST_BEFORE_S = 1;

    /**
     * If a JVM still compiles then, or in a row's first round, it may take this many rows' time, but at most so many
     * seconds: two processes that are tied to a processor each, and spin there, compile for some ten seconds.
     */
    private static final double SETTLING = 2.5;

    private static final double LONGEST_SETTLING_S = 15;

    private final Plan plan;
    private final String tool;
    private final PrintWriter err;
    private final List<Subject> subjects = new ArrayList<>();
    private final Map<Cell, List<Round>> results = new HashMap<>();
    private final Map<Cell, String> failures = new HashMap<>();
    private final Map<Subject, String> lost = new HashMap<>();
    private final Calibration calibration;
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
            patterns = patterns.stream()
                    .distinct()
                    .sorted(Comparator.comparingInt(Patterns.all()::indexOf))
                    .toList();
            sizes = sizes.stream().distinct().sorted().toList();
        }

        /** What one round does for a row. */
        Order order(Pattern pattern, long bytes, int round) {
            double durationS = seconds * (1 - WARM_UP) / rounds;
            double warmS = LATER_WARM_UP * durationS;
            double settleS = 0;
            if (round == 0) {
                durationS += seconds * WARM_UP;
                warmS = seconds * WARM_UP;
                settleS = settleS();
            }
            return new Order(pattern.measured(), bytes, ns(durationS), ns(warmS), ns(settleS), buffers, usage);
        }

        /** What each subject does before the first round. */
        Order before() {
            double durationS = Math.min(LONGEST_BEFORE_S, BEFORE * seconds);
            return new Order(
                    patterns.getFirst().measured(),
                    sizes.getFirst(),
                    ns(durationS),
                    ns(durationS / 2),
                    ns(settleS()),
                    buffers,
                    usage);
        }

        private double settleS() {
            return Math.min(LONGEST_SETTLING_S, SETTLING * seconds);
        }

        private static long ns(double seconds) {
            return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
        }
    }

    private record Cell(Subject subject, Pattern pattern, long bytes) {}

    /**
     * A run that has not begun.
     *
     * @param tool the tool that measures, which its notices begin with
     */
    PerfRun(Plan plan, Calibration calibration, String tool, PrintWriter err) {
        this.plan = plan;
        this.calibration = calibration;
        this.tool = tool;
        this.err = err;
    }

    /** Whether every row that was asked for is there. */
    boolean complete() {
        return failures.isEmpty() && lost.isEmpty();
    }

    /** Opens the subjects, measures them all, and closes them. */
    void measure(List<? extends Subject> asked) {
        subjects.addAll(asked);
        Thread hook = Thread.ofPlatform().unstarted(this::abandon);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            Set<Subject> good = new LinkedHashSet<>(asked);
            calibration.look();
            good.removeIf(subject -> !hasRows(subject) || !open(subject, true));
            for (int round = 0; round < plan.rounds() && !good.isEmpty() && !abandoned; round++) {
                round(round, good);
                calibration.look();
            }
        } finally {
            closeAll();
            remove(hook);
        }
    }

    /** Whether a subject has any of the rows; one that has none is not started. */
    private boolean hasRows(Subject subject) {
        boolean has = hasMore(subject);
        if (!has) {
            tell(title(subject) + " has none of these patterns and sizes: not started");
        }
        return has;
    }

    /** Starts a subject; whether it can be measured. */
    private boolean open(Subject subject, boolean warmUp) {
        if (abandoned) {
            return false;
        }
        tell("starting " + title(subject));
        long smallest = plan.sizes().getFirst();
        Pattern first = plan.patterns().getFirst().measured();
        try {
            subject.open(plan.buffers().memoryBytes(plan.sizes().getLast()));
        } catch (MeasuringException e) {
            subject.close();
            lose(subject, e);
            return false;
        }
        if (!warmUp || !subject.has(first, smallest)) {
            return true;
        }
        try {
            subject.measure(plan.before());
            return true;
        } catch (MeasuringException e) {
            return goesOn(new Cell(subject, plan.patterns().getFirst(), smallest), e);
        }
    }

    private void lose(Subject subject, MeasuringException e) {
        if (!abandoned) {
            tell(title(subject) + " was not measured to the end: " + e.getMessage());
        }
        lost.put(subject, String.valueOf(e.getMessage()));
    }

    private void round(int round, Set<Subject> good) {
        tell("round " + (round + 1) + " of " + plan.rounds());
        for (Pattern pattern : plan.patterns()) {
            for (long bytes : pattern.sizesOf(plan.sizes())) {
                good.removeIf(subject -> !abandoned
                        && subject.has(pattern.measured(), bytes)
                        && !take(round, new Cell(subject, pattern, bytes)));
            }
        }
    }

    /** Measures a row, unless it has failed before; whether the subject is still of use. */
    private boolean take(int round, Cell cell) {
        if (failures.containsKey(cell)) {
            return true;
        }
        try {
            keep(round, cell);
            return true;
        } catch (MeasuringException e) {
            return goesOn(cell, e);
        }
    }

    /** After a row that failed the subject starts anew, for those that are left. */
    private boolean goesOn(Cell failed, MeasuringException e) {
        Subject subject = failed.subject();
        failures.put(failed, String.valueOf(e.getMessage()));
        subject.close();
        if (abandoned) {
            return false;
        }
        tell(title(subject) + " " + failed.pattern().word() + " " + PerfTable.size(failed.bytes()) + " failed: "
                + e.getMessage());
        return hasMore(subject) && open(subject, false);
    }

    private boolean hasMore(Subject subject) {
        return plan.patterns().stream()
                .anyMatch(pattern -> pattern.sizesOf(plan.sizes()).stream()
                        .anyMatch(bytes -> subject.has(pattern.measured(), bytes)
                                && !failures.containsKey(new Cell(subject, pattern, bytes))));
    }

    private void keep(int round, Cell cell) {
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

    private void tell(String notice) {
        err.println(tool + ": " + notice);
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

    /** All rows by subject, pattern and size; of a subject that was lost, the rows that it has. */
    List<PerfRow> rows() {
        boolean noisy = noise().most();
        List<PerfRow> rows = new ArrayList<>();
        for (Cell cell : cells()) {
            List<Round> rounds = results.getOrDefault(cell, List.of());
            if (!rounds.isEmpty() && !failures.containsKey(cell)) {
                rows.add(new PerfRow(
                        label(cell.subject(), cell.bytes()), cell.pattern(), cell.bytes(), Figures.of(rounds), noisy));
            }
        }
        return rows;
    }

    /** The rows that have no figures although they were asked for, and why, in the same order. */
    List<FailedRow> failedRows() {
        List<FailedRow> rows = new ArrayList<>();
        for (Cell cell : cells()) {
            String reason = failures.get(cell);
            if (reason == null && !results.containsKey(cell)) {
                reason = lost.get(cell.subject());
            }
            if (reason != null) {
                rows.add(new FailedRow(label(cell.subject(), cell.bytes()), cell.pattern(), cell.bytes(), reason));
            }
        }
        return rows;
    }

    private List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (Subject subject : subjects) {
            for (Pattern pattern : plan.patterns()) {
                for (long bytes : pattern.sizesOf(plan.sizes())) {
                    if (subject.has(pattern.measured(), bytes)) {
                        cells.add(new Cell(subject, pattern, bytes));
                    }
                }
            }
        }
        return cells;
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

    /** Medians tolerate some noisy rounds, but not half of them. */
    Machine.Noise noise() {
        List<Integer> noisy = calibration.noisyRounds();
        return new Machine.Noise(
                calibration.spread(),
                noisy.stream().map(round -> round + 1).toList(),
                2 * noisy.size() >= plan.rounds());
    }
}
