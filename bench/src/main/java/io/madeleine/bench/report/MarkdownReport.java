package io.madeleine.bench.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The same as Markdown: medians and ratios as tables.
 *
 * <p>Threading: confined to caller.
 */
final class MarkdownReport {
    private final Rows rows;
    private final Table table;
    private final StringBuilder text = new StringBuilder();

    private MarkdownReport(Rows rows) {
        this.rows = rows;
        this.table = new Table(rows.figures());
    }

    static String of(Rows rows) {
        MarkdownReport report = new MarkdownReport(rows);
        report.line("# " + rows.original().map(Original::title).orElse("Messages between two processes") + "\n");
        report.line(Html.capitalised(Summary.measured(rows, report.table)));
        report.line(Summary.result(report.table));
        if (rows.machine().noisy()) {
            report.line("\n**The machine was restless while this was measured.**");
        }
        rows.original().ifPresent(report::original);
        report.medians();
        report.ratios();
        report.conditions();
        return report.text.toString();
    }

    private void original(Original original) {
        line("\nAfter " + original.source() + ". " + original.note() + "\n");
        original.quotes()
                .forEach(quote -> line("- Original, " + quote.pattern() + ", " + quote.what() + ": " + quote.value()));
    }

    private void line(String line) {
        text.append(line).append('\n');
    }

    private void row(List<String> cells) {
        line("| "
                + String.join(
                        " | ",
                        cells.stream().map(cell -> cell.replace("|", "\\|")).toList()) + " |");
    }

    private void head(String first, List<Long> sizes) {
        List<String> cells = new ArrayList<>(List.of(first));
        sizes.forEach(size -> cells.add(Html.size(size)));
        row(cells);
        line("|---" + "|--:".repeat(sizes.size()) + "|");
    }

    private void medians() {
        for (String pattern : table.patterns()) {
            line("\n## " + Html.capitalised(pattern) + ", medians\n");
            head("", table.sizes(pattern));
            for (Subject subject : table.subjects()) {
                if (!table.rows(subject, pattern).isEmpty()) {
                    List<String> cells = new ArrayList<>();
                    cells.add(subject.ours() ? "**" + subject.label() + "**" : subject.label());
                    for (long size : table.sizes(pattern)) {
                        cells.add(table.row(subject, pattern, size)
                                .map(found -> found.unit().text(found.median()) + (found.uncertain() ? " ~" : ""))
                                .orElse(""));
                    }
                    row(cells);
                }
            }
        }
    }

    private void ratios() {
        for (Ratios ratios : Ratios.of(table)) {
            line("\n## How many times faster " + ratios.ours().label() + " is\n");
            line("Below 1 the peer is faster; ~ marks noisy rows.");
            ratios.lines().forEach((pattern, lines) -> {
                line("");
                head(Html.capitalised(pattern), ratios.sizes());
                for (Ratios.Line line : lines) {
                    List<String> cells = new ArrayList<>(
                            Collections.singletonList(line.peer().label()));
                    line.cells()
                            .forEach(cell -> cells.add(cell.map(found -> found.text() + (found.noisy() ? "~" : ""))
                                    .orElse("")));
                    row(cells);
                }
            });
        }
    }

    private void conditions() {
        line("\n## Conditions\n");
        rows.machine()
                .facts()
                .forEach((key, value) -> line("- " + Machine.title(key) + ": " + Conditions.text(key, value)));
        rows.machine()
                .selection()
                .forEach((name, lines) -> line("- Selection over " + name + ": " + String.join("; ", lines)));
        rows.absent().forEach((name, reason) -> line("- Absent: " + name + ": " + reason));
    }
}
