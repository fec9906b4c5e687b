package io.madeleine.bench.history;

import io.madeleine.bench.report.Html;
import io.madeleine.bench.report.ReportRow;
import io.madeleine.bench.report.Rows;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What two builds measured in turns: of each row, the ratio in each turn and the median of the ratios.
 *
 * <p>Threading: confined to caller.
 */
public final class Turns {
    private static final String LINE = "%-26s %-12s %8s %12s %12s %8s  %s";

    private final Map<String, Sides> rows = new LinkedHashMap<>();

    /** The rows of one name, pattern and size, one per turn. */
    private record Sides(List<ReportRow> own, List<ReportRow> other) {
        Sides() {
            this(new ArrayList<>(), new ArrayList<>());
        }
    }

    /** Nothing yet. */
    public Turns() {}

    /** What this build measured in a turn. */
    public void addOwn(Rows turn) {
        turn.figures().forEach(row -> sides(row).own().add(row));
    }

    /** What the other build measured in a turn. */
    public void addOther(Rows turn) {
        turn.figures().forEach(row -> sides(row).other().add(row));
    }

    private Sides sides(ReportRow row) {
        return rows.computeIfAbsent(Comparison.key(row), _ -> new Sides());
    }

    /** A line per row that both have; how many times faster this build is, by the median turn and the extremes. */
    public void print(PrintWriter out, String otherName) {
        out.println("Medians over turns of " + otherName + " and of this build, and how many times faster this one is");
        out.println(LINE.formatted("", "", "size", "there", "here", "ratio", "of all turns"));
        int missing = 0;
        for (Sides sides : rows.values()) {
            int turns = Math.min(sides.own().size(), sides.other().size());
            if (turns == 0) {
                missing++;
                continue;
            }
            double[] ratios = new double[turns];
            for (int turn = 0; turn < turns; turn++) {
                ReportRow own = sides.own().get(turn);
                ratios[turn] = own.unit()
                        .advantage(own.median(), sides.other().get(turn).median());
            }
            ReportRow row = sides.own().getFirst();
            out.println(LINE.formatted(
                    row.subject(),
                    row.pattern(),
                    Html.size(row.sizeBytes()),
                    row.unit().text(median(sides.other())),
                    row.unit().text(median(sides.own())),
                    String.format(Locale.ROOT, "%.2f", Change.median(ratios)),
                    String.format(
                            Locale.ROOT,
                            "%.2f to %.2f",
                            Arrays.stream(ratios).min().orElseThrow(),
                            Arrays.stream(ratios).max().orElseThrow())));
        }
        if (missing > 0) {
            out.println(missing + " rows that one of the two has not");
        }
        out.flush();
    }

    private static double median(List<ReportRow> turns) {
        return Change.median(turns.stream().mapToDouble(ReportRow::median).toArray());
    }
}
