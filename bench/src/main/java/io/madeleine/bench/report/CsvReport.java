package io.madeleine.bench.report;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows for a spreadsheet: one line per row, values in the units of the rows.
 *
 * <p>Threading: stateless.
 */
final class CsvReport {
    private static final List<String> COLUMNS = List.of(
            "kind",
            "name",
            "variant",
            "pattern",
            "sizeBytes",
            "transmissionModule",
            "unit",
            "min",
            "median",
            "p99",
            "max",
            "spread",
            "noisy");

    private CsvReport() {}

    static String of(Rows rows) {
        List<String> costs = Conditions.costs(rows);
        StringBuilder text = new StringBuilder();
        List<String> head = new ArrayList<>(COLUMNS);
        head.addAll(costs);
        line(text, head);
        for (ReportRow row : rows.figures()) {
            ReportRow.Values values = row.values();
            List<String> cells = new ArrayList<>(List.of(
                    row.ours() ? "protocol" : "peer",
                    row.name(),
                    row.variant(),
                    row.pattern(),
                    Long.toString(row.sizeBytes()),
                    row.transmissionModule(),
                    values.unit().name()));
            for (double value :
                    new double[] {values.min(), values.median(), values.p99(), values.max(), row.spread()}) {
                cells.add(Double.toString(value));
            }
            cells.add(Boolean.toString(row.noisy()));
            costs.forEach(key -> cells.add(row.costs().getOrDefault(key, "")));
            line(text, cells);
        }
        return text.toString();
    }

    private static void line(StringBuilder text, List<String> cells) {
        text.append(String.join(",", cells.stream().map(CsvReport::quoted).toList()))
                .append("\r\n");
    }

    private static String quoted(String cell) {
        boolean plain = cell.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? cell : '"' + cell.replace("\"", "\"\"") + '"';
    }
}
