package io.madeleine.bench;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * How the setups of an experiment change each figure: the ratio of its median to that of the first setup.
 *
 * <p>Threading: stateless.
 */
final class SetupRatios {
    private SetupRatios() {}

    /** Prints a line for each row but the first of its network, pattern and size; nothing if there are no others. */
    static void print(PrintWriter out, List<PerfRow> rows) {
        Map<String, PerfRow> first = new LinkedHashMap<>();
        rows.forEach(row -> first.putIfAbsent(cell(row), row));
        if (first.size() == rows.size()) {
            return;
        }
        out.println("\nmedians, divided by those of the first:");
        for (PerfRow row : rows) {
            PerfRow base = Objects.requireNonNull(first.get(cell(row)));
            if (row != base) {
                out.println("%-12s %8s  %5.2f  %s / %s"
                        .formatted(
                                row.pattern().word(),
                                PerfTable.size(row.bytes()),
                                row.figures().median() / base.figures().median(),
                                row.title(),
                                base.title()));
            }
        }
        out.flush();
    }

    private static String cell(PerfRow row) {
        return row.label().name() + " " + row.label().variant().layer() + " " + row.pattern() + " " + row.bytes();
    }
}
