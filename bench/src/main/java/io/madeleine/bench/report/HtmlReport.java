package io.madeleine.bench.report;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The page: everything is in it, nothing is fetched. Without JavaScript only hover values and the two switches are
 * missing.
 *
 * <p>Threading: confined to caller.
 */
final class HtmlReport {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("d MMMM yyyy, HH:mm 'UTC'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private final Rows rows;
    private final Table table;
    private final Instant time;
    private final Formatter page = new Formatter(Locale.ROOT);

    private HtmlReport(Rows rows, Instant time) {
        this.rows = rows;
        this.table = new Table(rows.figures());
        this.time = rows.time().orElse(time);
    }

    /** @param now the time of rows that do not say theirs */
    static String of(Rows rows, Instant now) {
        HtmlReport report = new HtmlReport(rows, now);
        report.head();
        report.legend();
        report.figures();
        report.ratios();
        report.conditions();
        report.details();
        report.page.format("\n</main>\n<script>\n%s</script>\n</body>\n</html>\n", Html.resource("report.js"));
        return report.page.toString();
    }

    private void head() {
        String title = Html.escape(rows.original().map(Original::title).orElse("Messages between two processes"));
        page.format(
                """
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <title>Madeleine: %s</title>
                <link rel="icon" href="data:,">
                <style>
                %s</style>
                </head>
                <body>
                <main>
                <header>
                <p class="over">Madeleine <span>mad perf, %s</span>\
                <button id="theme" type="button" aria-label="Light or dark" hidden>◐</button></p>
                <h1>%s</h1>
                <p class="lead">%s</p>
                <p class="lead">%s</p>""",
                title,
                Html.resource("report.css"),
                DAY.format(time),
                title,
                Html.sentence(Html.capitalised(Summary.measured(rows, table))),
                Html.sentence(Summary.result(table)));
        if (rows.machine().noisy()) {
            page.format(
                    "\n<p class=\"warning\">The machine was restless while this was measured: a loop that should always take"
                            + " the same time did not. Take these figures as orders of magnitude.</p>");
        }
        rows.original()
                .ifPresent(original -> page.format(
                        "\n<p class=\"note\">After %s. %s</p>",
                        Html.escape(original.source()), Html.escape(original.note())));
        page.format("\n</header>");
    }

    private void legend() {
        page.format("\n<ul class=\"legend\" aria-label=\"Subjects\">");
        for (Subject subject : table.subjects()) {
            page.format(
                    "\n<li><button type=\"button\" class=\"c%d%s\" data-name=\"%s\" aria-pressed=\"true\"><svg width=\"34\""
                            + " height=\"10\" aria-hidden=\"true\"><path class=\"curve\" d=\"M1 5H33\"%s/></svg>%s</button></li>",
                    subject.colour(),
                    subject.ours() ? " ours" : "",
                    Html.escape(subject.label()),
                    subject.dash().isEmpty() ? "" : " stroke-dasharray=\"" + subject.dash() + "\"",
                    Html.escape(subject.label()));
        }
        page.format("\n</ul>");
    }

    private void figures() {
        for (String pattern : table.patterns()) {
            switch (pattern) {
                case "latency" ->
                    section("Latency", "Half a round trip. Lower is better; both axes are logarithmic.", pattern);
                case "bandwidth" ->
                    section(
                            "Bandwidth",
                            "One end streams, the other acknowledges the last message; 1 MB is 10⁶ bytes. Higher is"
                                    + " better; both axes are logarithmic.",
                            pattern);
                case "rate" -> rates();
                case "pingpong" ->
                    section(
                            "PingPong bandwidth",
                            "The size over half the time of a round trip; 1 MB is 10⁶ bytes. Higher is better; both axes"
                                    + " are logarithmic.",
                            pattern);
                case "send" ->
                    section(
                            "Sending",
                            "Time per message of a burst that is sent while the receiver is busy elsewhere."
                                    + " Lower is better; both axes are logarithmic.",
                            pattern);
                case "receive" ->
                    section(
                            "Receiving",
                            "Time per message of a burst that has arrived. Lower is better; both axes are logarithmic.",
                            pattern);
                case "incast" ->
                    section(
                            "Incast",
                            "Messages per second at one receiver, from all senders together. Higher is better; both axes"
                                    + " are logarithmic.",
                            pattern);
                case "register" ->
                    section(
                            "Registering memory",
                            "Time to register memory and to end the registration. Lower is better; both axes are"
                                    + " logarithmic.",
                            pattern);
                default -> section(Html.capitalised(pattern), "Both axes are logarithmic.", pattern);
            }
        }
    }

    private void section(String title, String note, String pattern) {
        page.format(
                "\n<section class=\"figure\">\n<h2>%s</h2>\n<p class=\"note\">%s%s</p>\n<div class=\"panels\">",
                title,
                note,
                anyNoisy(pattern)
                        ? " A hollow point is noisy: its rounds are more than 30 % apart, or the machine was restless."
                        : "");
        List<ReportRow> shown = table.rows().stream()
                .filter(row -> row.pattern().equals(pattern))
                .toList();
        double least = shown.stream().mapToDouble(ReportRow::median).min().orElse(1);
        double most = shown.stream().mapToDouble(ReportRow::median).max().orElse(1);
        for (Family family : Family.values()) {
            List<LineChart.Line> lines = table.subjects().stream()
                    .filter(subject -> subject.family() == family)
                    .map(subject -> new LineChart.Line(subject, table.rows(subject, pattern)))
                    .filter(line -> !line.rows().isEmpty())
                    .toList();
            if (!lines.isEmpty()) {
                LineChart chart = new LineChart(
                        title + ", " + family.title(), lines, table.sizes(pattern), Math.max(least, 1e-9), most);
                page.format(
                        "\n<figure class=\"panel\" data-sizes=\"%s\"><figcaption>%s</figcaption>",
                        sizes(pattern), family.title());
                Arrays.stream(LineChart.Layout.values()).forEach(layout -> page.format("%s", chart.svg(layout)));
                page.format("\n</figure>");
            }
        }
        rows.original().ifPresent(original -> margin(original, pattern));
        page.format("\n</div>\n</section>");
    }

    /** The numbers of the original, beside ours. */
    private void margin(Original original, String pattern) {
        page.format("\n<aside class=\"original\"><h3>In the original</h3><dl>");
        for (Original.Quote quote : original.quotes()) {
            if (quote.pattern().equals(pattern)) {
                page.format(
                        "\n<div><dt>%s</dt><dd>%s</dd></div>", Html.escape(quote.what()), Html.escape(quote.value()));
            }
        }
        page.format("\n</dl><p>%s</p></aside>", Html.escape(original.source()));
    }

    private String sizes(String pattern) {
        return String.join("|", table.sizes(pattern).stream().map(Html::size).toList());
    }

    private boolean anyNoisy(String pattern) {
        return table.rows().stream()
                .anyMatch(row -> row.uncertain() && row.pattern().equals(pattern));
    }

    private void rates() {
        long size = table.sizes("rate").getFirst();
        page.format(
                "\n<section class=\"figure\">\n<h2>Rate</h2>\n<p class=\"note\">Messages of %s per second while one end"
                        + " streams. Longer is better; each group has a scale of its own.</p>\n<div class=\"panels\">",
                Html.size(size));
        for (Family family : Family.values()) {
            List<Subject> shown = table.subjects().stream()
                    .filter(subject -> subject.family() == family
                            && table.row(subject, "rate", size).isPresent())
                    .sorted(Comparator.comparingDouble(subject -> -rate(subject, size)))
                    .toList();
            if (!shown.isEmpty()) {
                double most = rate(shown.getFirst(), size);
                page.format(
                        "\n<figure class=\"panel\"><figcaption>%s</figcaption>\n<div class=\"bars\">", family.title());
                shown.forEach(subject -> bar(subject, size, most));
                page.format("\n</div></figure>");
            }
        }
        page.format("\n</div>\n</section>");
    }

    private double rate(Subject subject, long size) {
        return table.row(subject, "rate", size).orElseThrow().median();
    }

    private void bar(Subject subject, long size, double most) {
        ReportRow row = table.row(subject, "rate", size).orElseThrow();
        page.format(
                "\n<div class=\"bar c%d%s\" data-name=\"%s\"><span>%s</span><i><b style=\"width:%s%%\"></b></i><em>%s%s</em></div>",
                subject.colour(),
                subject.ours() ? " ours" : "",
                Html.escape(subject.label()),
                Html.escape(subject.label()),
                Html.px(Math.max(0.3, 100 * row.median() / most)),
                row.unit().text(row.median()),
                row.uncertain() ? " ~" : "");
    }

    private void ratios() {
        List<Ratios> all = Ratios.of(table);
        if (all.isEmpty()) {
            return;
        }
        page.format(
                "\n<section>\n<h2>How many times faster is Madeleine?</h2>\n<p class=\"note\">Medians; the peer’s time divided"
                        + " by ours, our bandwidth divided by the peer’s. Above 1 <span class=\"key f2\">ours is"
                        + " faster</span>, below 1 <span class=\"key s2\">the peer is</span>; within 5 %% no colour. ~ marks noisy"
                        + " rows.</p>");
        for (Ratios ratios : all) {
            page.format(
                    "\n<h3>%s</h3>\n<div class=\"scroll\"><table class=\"ratios\">",
                    Html.escape(ratios.ours().label()));
            for (Map.Entry<String, List<Ratios.Line>> part : ratios.lines().entrySet()) {
                page.format(
                        "\n<tbody><tr class=\"head\"><th scope=\"col\">%s</th>%s</tr>",
                        Html.capitalised(part.getKey()),
                        String.join(
                                "",
                                ratios.sizes().stream()
                                        .map(size -> "<th scope=\"col\">" + Html.size(size) + "</th>")
                                        .toList()));
                part.getValue().forEach(this::ratioLine);
                page.format(
                        "\n<tr class=\"lead\"><td colspan=\"%d\">%s is %s</td></tr></tbody>",
                        ratios.sizes().size() + 1, Html.escape(ratios.ours().label()), ratios.lead(part.getKey()));
            }
            page.format("\n</table></div>");
        }
        page.format("\n</section>");
    }

    private void ratioLine(Ratios.Line line) {
        String cells = line.cells().stream()
                .map(cell -> cell.map(HtmlReport::ratioCell).orElse("<td>–</td>"))
                .collect(Collectors.joining());
        page.format(
                "\n<tr><th scope=\"row\">%s</th>%s</tr>",
                Html.escape(line.peer().label()), cells);
    }

    private static String ratioCell(Ratios.Cell cell) {
        return "<td class=\"%s\" title=\"%s %s, %s %s\">%s%s</td>"
                .formatted(
                        shade(cell.value()),
                        Html.escape(cell.ours().subject()),
                        cell.ours().unit().text(cell.ours().median()),
                        Html.escape(cell.peer().subject()),
                        cell.peer().unit().text(cell.peer().median()),
                        cell.text(),
                        cell.noisy() ? "~" : "");
    }

    /** Three steps to each side: beyond 5 %, beyond one and a half, beyond three times. */
    private static String shade(double ratio) {
        double size = Math.max(ratio, 1 / ratio);
        int step = size > 3 ? 3 : size > 1.5 ? 2 : 1;
        return size <= 1.05 ? "even" : (ratio > 1 ? "f" : "s") + step;
    }

    private void conditions() {
        page.format("\n<section class=\"conditions\">\n<h2>Conditions</h2>\n<dl>");
        rows.machine()
                .facts()
                .forEach((key, value) -> page.format(
                        "\n<div><dt>%s</dt><dd>%s</dd></div>",
                        Html.escape(Machine.title(key)), Html.escape(Conditions.text(key, value))));
        if (rows.machine().facts().isEmpty()) {
            page.format("\n<div><dt>Machine</dt><dd>the rows do not say</dd></div>");
        }
        page.format("\n</dl>");
        rows.machine().selection().forEach((name, lines) -> {
            page.format("\n<h3>Selection over %s</h3>\n<ul class=\"plain\">", Html.escape(name));
            lines.forEach(line -> page.format("\n<li>%s</li>", Html.escape(line)));
            page.format("\n</ul>");
        });
        if (!rows.absent().isEmpty()) {
            page.format("\n<h3>Absent</h3>\n<dl class=\"absent\">");
            rows.absent()
                    .forEach((name, reason) ->
                            page.format("\n<div><dt>%s</dt><dd>%s</dd></div>", Html.escape(name), Html.escape(reason)));
            page.format("\n</dl>");
        }
        page.format("\n</section>");
    }

    private void details() {
        List<String> costs = Conditions.costs(rows);
        List<String> titles = new ArrayList<>(
                List.of("Subject", "Pattern", "Size", "Module", "Min", "Median", "99 %", "Max", "Spread"));
        costs.forEach(key -> titles.add(Conditions.title(key)));
        page.format(
                "\n<section><details>\n<summary>All figures</summary>\n<div class=\"scroll\"><table class=\"all\"><thead><tr>%s</tr></thead><tbody>",
                String.join(
                        "",
                        titles.stream()
                                .map(title -> "<th scope=\"col\">" + title + "</th>")
                                .toList()));
        for (ReportRow row : rows.figures()) {
            List<String> cells = new ArrayList<>(List.of(
                    row.subject(),
                    row.pattern(),
                    Html.size(row.sizeBytes()),
                    row.transmissionModule(),
                    row.unit().text(row.values().min()),
                    row.unit().text(row.median()),
                    row.unit().text(row.values().p99()),
                    row.unit().text(row.values().max()),
                    Math.round(100 * row.spread()) + " %" + (row.uncertain() ? " ~" : "")));
            costs.forEach(key -> cells.add(row.costs().getOrDefault(key, "")));
            page.format(
                    "\n<tr%s>%s</tr>",
                    row.ours() ? " class=\"ours\"" : "",
                    String.join(
                            "",
                            cells.stream()
                                    .map(cell -> "<td>" + Html.escape(cell) + "</td>")
                                    .toList()));
        }
        page.format("\n</tbody></table></div>\n</details></section>");
    }
}
