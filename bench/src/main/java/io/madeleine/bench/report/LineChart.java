package io.madeleine.bench.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Curves over the size of messages as SVG, both axes logarithmic, each line labelled at its end. Colours come from the
 * style sheet, so the same picture serves light and dark.
 *
 * <p>Threading: immutable.
 *
 * @param title what it shows, for those who cannot see it
 * @param lines the curves, each with its rows in the order of sizes
 * @param sizes every size that occurs in any picture beside this one, ascending
 * @param least the smallest value in any picture beside this one
 * @param most the largest
 */
record LineChart(String title, List<Line> lines, List<Long> sizes, double least, double most) {
    private static final double LETTER = 6.1;
    private static final int LABEL_GAP = 14;

    /** A subject and its rows. */
    record Line(Subject subject, List<ReportRow> rows) {
        ReportRow last() {
            return rows.getLast();
        }
    }

    /** How large it is drawn: {@code WIDE} for desks and paper, {@code NARROW} for phones. */
    enum Layout {
        WIDE(570, 390, 12),
        NARROW(372, 350, 11);

        private final int width;
        private final int height;
        private final int font;

        Layout(int width, int height, int font) {
            this.width = width;
            this.height = height;
            this.font = font;
        }
    }

    private record Frame(double left, double top, double right, double bottom, int font, LogScale x, LogScale y) {}

    String svg(Layout layout) {
        Frame frame = frame(layout);
        StringBuilder svg = new StringBuilder();
        svg.append("<svg class=\"chart %s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\" font-size=\"%d\">\n"
                .formatted(
                        layout.name().toLowerCase(Locale.ROOT),
                        layout.width,
                        layout.height,
                        Html.escape(title),
                        layout.font));
        axes(svg, frame);
        // Ours are drawn last, so that they lie on top.
        lines.stream()
                .sorted(Comparator.comparing(line -> line.subject().ours()))
                .forEach(line -> curve(svg, frame, line));
        labels(svg, frame);
        svg.append("<line class=\"rule\" x1=\"0\" x2=\"0\" y1=\"%s\" y2=\"%s\"/>\n</svg>\n"
                .formatted(Html.px(frame.top), Html.px(frame.bottom)));
        return svg.toString();
    }

    private Frame frame(Layout layout) {
        int longest = lines.stream()
                .mapToInt(line -> line.subject().label().length())
                .max()
                .orElse(0);
        double left = 5.2 * layout.font;
        double top = 10;
        double right = layout.width - Math.min(longest * LETTER * layout.font / 11 + 20, layout.width / 3.0);
        double bottom = layout.height - 42;
        LogScale x = new LogScale(sizes.getFirst(), sizes.getLast(), left, right);
        return new Frame(left, top, right, bottom, layout.font, x, LogScale.around(least, most, bottom, top));
    }

    private void axes(StringBuilder svg, Frame frame) {
        svg.append("<g class=\"grid\">\n");
        Unit unit = lines.getFirst().last().unit();
        for (double tick : frame.y.ticks()) {
            String y = Html.px(frame.y.at(tick));
            svg.append("<line x1=\"%s\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>"
                    .formatted(Html.px(frame.left), Html.px(frame.right), y, y));
            svg.append("<text class=\"tick\" x=\"%s\" y=\"%s\" dy=\".32em\" text-anchor=\"end\">%s</text>\n"
                    .formatted(Html.px(frame.left - 8), y, unit.tick(tick)));
        }
        double free = Double.NEGATIVE_INFINITY;
        for (long size : sizes) {
            double x = frame.x.at((double) size);
            boolean labelled = x - free > 2.6 * frame.font;
            svg.append("<line x1=\"%s\" x2=\"%s\" y1=\"%s\" y2=\"%s\"/>"
                    .formatted(Html.px(x), Html.px(x), Html.px(frame.bottom), Html.px(frame.bottom + 5)));
            if (labelled) {
                svg.append("<text class=\"tick\" x=\"%s\" y=\"%s\" text-anchor=\"middle\">%s</text>\n"
                        .formatted(Html.px(x), Html.px(frame.bottom + 19), Html.tick(size)));
                free = x;
            }
        }
        svg.append("<text class=\"axis\" x=\"%s\" y=\"%s\" text-anchor=\"middle\">message size in bytes</text>\n</g>\n"
                .formatted(Html.px((frame.left + frame.right) / 2), Html.px(frame.bottom + 37)));
    }

    private void curve(StringBuilder svg, Frame frame, Line line) {
        Subject subject = line.subject();
        svg.append("<g class=\"series c%d%s\" data-name=\"%s\">"
                .formatted(subject.colour(), subject.ours() ? " ours" : "", Html.escape(subject.label())));
        StringBuilder path = new StringBuilder();
        StringBuilder points = new StringBuilder();
        for (ReportRow row : line.rows()) {
            String x = Html.px(frame.x.at((double) row.sizeBytes()));
            String y = Html.px(frame.y.at(row.median()));
            path.append(path.isEmpty() ? "M" : "L").append(x).append(' ').append(y);
            points.append(point(row, x, y, subject.ours() ? 3.4 : row.uncertain() ? 3.2 : 2.4));
        }
        svg.append("<path class=\"curve\" d=\"%s\"%s/>%s</g>\n"
                .formatted(
                        path, subject.dash().isEmpty() ? "" : " stroke-dasharray=\"" + subject.dash() + "\"", points));
    }

    private String point(ReportRow row, String x, String y, double radius) {
        ReportRow.Values values = row.values();
        return "<circle cx=\"%s\" cy=\"%s\" r=\"%s\"%s data-i=\"%d\" data-v=\"%s\" data-s=\"%s to %s\"/>"
                .formatted(
                        x,
                        y,
                        radius,
                        row.uncertain() ? " class=\"noisy\"" : "",
                        sizes.indexOf(row.sizeBytes()),
                        row.unit().text(values.median()),
                        row.unit().text(values.min()),
                        row.unit().text(values.p99()));
    }

    /** At the right, one below the other; a line that ends early has its name where it ends. */
    private void labels(StringBuilder svg, Frame frame) {
        List<Line> complete = lines.stream()
                .filter(line -> line.last().sizeBytes() == sizes.getLast())
                .toList();
        double[] wished = complete.stream()
                .mapToDouble(line -> frame.y.at(line.last().median()))
                .toArray();
        double[] placed = LabelColumn.spread(wished, LABEL_GAP, frame.top + 4, frame.bottom);
        for (int i = 0; i < complete.size(); i++) {
            String leader = "<path d=\"M%s %sL%s %s\"/>"
                    .formatted(
                            Html.px(frame.right + 4),
                            Html.px(wished[i]),
                            Html.px(frame.right + 13),
                            Html.px(placed[i]));
            label(svg, complete.get(i).subject(), frame.right + 16, placed[i], leader);
        }
        for (Line line : lines) {
            if (!complete.contains(line)) {
                double x = frame.x.at((double) line.last().sizeBytes()) + 7;
                label(svg, line.subject(), x, frame.y.at(line.last().median()) + 6, "");
            }
        }
    }

    private static void label(StringBuilder svg, Subject subject, double x, double y, String leader) {
        svg.append("<g class=\"label c%d%s\" data-name=\"%s\">%s<text x=\"%s\" y=\"%s\" dy=\".32em\">%s</text></g>\n"
                .formatted(
                        subject.colour(),
                        subject.ours() ? " ours" : "",
                        Html.escape(subject.label()),
                        leader,
                        Html.px(x),
                        Html.px(y),
                        Html.escape(subject.label())));
    }
}
