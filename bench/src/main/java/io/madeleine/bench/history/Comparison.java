package io.madeleine.bench.history;

import io.madeleine.bench.history.Change.Verdict;
import io.madeleine.bench.history.KeptRuns.Run;
import io.madeleine.bench.report.Html;
import io.madeleine.bench.report.Machine;
import io.madeleine.bench.report.ReportRow;
import io.madeleine.bench.report.Rows;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A run beside earlier ones, row by row.
 *
 * <p>Threading: immutable.
 *
 * @param earlier the runs it is compared with
 * @param changes a change for each row that both sides have
 * @param added how many rows are new
 * @param gone how many rows are missing now
 */
record Comparison(List<Run> earlier, List<Change> changes, int added, int gone) {
    /** The facts that must not differ; otherwise figures mean something else. */
    private static final List<String> SETUP = List.of("cpu", "cores", "wait", "pinned");

    /** The facts that may differ; the comparison says so. */
    private static final List<String> WORTH_SAYING =
            List.of("madeleine", "java", "kernel", "rounds", "seconds", "settings");

    private static final String LINE = "%-18s %-10s %8s %12s %12s %9s %8s  %s";

    static Comparison of(List<Run> earlier, Rows now) {
        Map<String, List<ReportRow>> before = new LinkedHashMap<>();
        for (Run run : earlier) {
            run.rows()
                    .figures()
                    .forEach(row -> before.computeIfAbsent(key(row), _ -> new ArrayList<>())
                            .add(row));
        }
        List<Change> changes = new ArrayList<>();
        int added = 0;
        for (ReportRow row : now.figures()) {
            List<ReportRow> same = before.remove(key(row));
            if (same == null) {
                added++;
            } else {
                changes.add(Change.of(same, row));
            }
        }
        return new Comparison(earlier, changes, added, before.size());
    }

    /** What makes two rows comparable. */
    static String key(ReportRow row) {
        return row.subject() + "\n" + row.pattern() + "\n" + row.sizeBytes() + "\n"
                + row.unit().name();
    }

    /** The differences for which the figures of two runs cannot be compared; empty if they can. */
    static List<String> obstacles(Rows before, Rows now) {
        return differences(SETUP, before.machine(), now.machine());
    }

    private static List<String> differences(List<String> keys, Machine before, Machine now) {
        return keys.stream()
                .filter(key -> !before.fact(key).equals(now.fact(key)))
                .map(key -> Machine.title(key).toLowerCase(Locale.ROOT) + " " + shown(key, before) + " before, "
                        + shown(key, now) + " now")
                .toList();
    }

    private static String shown(String key, Machine machine) {
        String fact = machine.fact(key);
        return fact.isEmpty() ? key.equals("settings") ? "none" : "unknown" : fact;
    }

    long regressions() {
        return changes.stream().filter(Change::isRegression).count();
    }

    private long count(Verdict verdict) {
        return changes.stream().filter(change -> change.verdict() == verdict).count();
    }

    /** The rows that changed, the worst first, and a sentence about all. */
    void print(PrintWriter out, Rows now) {
        Run last = earlier.getLast();
        out.println("Compared with " + (earlier.size() == 1 ? "" : "the median of " + earlier.size() + " runs up to ")
                + last.file().getFileName());
        Stream.concat(
                        obstacles(last.rows(), now).stream().map(text -> "NOT THE SAME: " + text),
                        differences(WORTH_SAYING, last.rows().machine(), now.machine()).stream())
                .forEach(text -> out.println("  " + text));
        List<Change> beyond = changes.stream()
                .filter(change -> change.verdict() != Verdict.SAME)
                .sorted(Comparator.comparingDouble(Change::speedUp))
                .toList();
        if (!beyond.isEmpty()) {
            out.println();
            out.println(LINE.formatted("", "", "size", "before", "now", "change", "noise", "")
                    .stripTrailing());
            beyond.forEach(change -> out.println(line(change)));
            out.println();
        }
        out.printf(
                Locale.ROOT,
                "%d rows: %d slower, %d faster, %d within noise%s%s%n",
                changes.size(),
                count(Verdict.SLOWER),
                count(Verdict.FASTER),
                count(Verdict.SAME),
                added == 0 ? "" : "; " + added + " new",
                gone == 0 ? "" : "; " + gone + " not measured now");
        out.flush();
    }

    private static String line(Change change) {
        ReportRow row = change.after();
        return String.format(
                Locale.ROOT,
                LINE,
                row.subject(),
                row.pattern(),
                Html.size(row.sizeBytes()),
                row.unit().text(change.before()),
                row.unit().text(row.median()),
                String.format(Locale.ROOT, "%+.0f %%", change.percent()),
                String.format(Locale.ROOT, "%.0f %%", 100 * change.noise()),
                change.words());
    }
}
