package io.madeleine.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * How many times faster one of ours is than each peer that goes the same way, by pattern and size.
 *
 * <p>Threading: immutable.
 *
 * @param ours whose ratios these are
 * @param sizes the columns
 * @param lines by pattern, a line per peer
 */
record Ratios(Subject ours, List<Long> sizes, Map<String, List<Line>> lines) {
    /** A peer and its ratios, one per size. */
    record Line(Subject peer, List<Optional<Cell>> cells) {}

    /** The ratio of two medians: how many times faster ours is. */
    record Cell(ReportRow ours, ReportRow peer) {
        double value() {
            return ours.unit().advantage(ours.median(), peer.median());
        }

        boolean noisy() {
            return ours.uncertain() || peer.uncertain();
        }

        /** Two digits behind the point, fewer for large ratios. */
        String text() {
            double value = value();
            return String.format(Locale.ROOT, value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f", value);
        }
    }

    /** A table for each of ours that has peers. If nobody goes the same way, all peers are compared. */
    static List<Ratios> of(Table table) {
        List<Ratios> all = new ArrayList<>();
        for (Subject ours : table.subjects()) {
            if (ours.ours()) {
                List<Subject> peers = table.rivals(ours);
                Map<String, List<Line>> lines = new LinkedHashMap<>();
                TreeSet<Long> sizes = new TreeSet<>();
                for (String pattern : table.patterns()) {
                    table.rows(ours, pattern).forEach(row -> sizes.add(row.sizeBytes()));
                }
                for (String pattern : compared(table)) {
                    List<Line> found = lines(table, ours, peers, pattern, List.copyOf(sizes));
                    if (!found.isEmpty()) {
                        lines.put(pattern, found);
                    }
                }
                if (!lines.isEmpty()) {
                    all.add(new Ratios(ours, List.copyOf(sizes), lines));
                }
            }
        }
        return all;
    }

    /** A rate is a bandwidth divided by the size: one of the two is enough. */
    private static List<String> compared(Table table) {
        List<String> patterns = table.patterns();
        return patterns.contains("bandwidth")
                ? patterns.stream().filter(pattern -> !pattern.equals("rate")).toList()
                : patterns;
    }

    private static List<Line> lines(Table table, Subject ours, List<Subject> peers, String pattern, List<Long> sizes) {
        List<Line> found = new ArrayList<>();
        for (Subject peer : peers) {
            List<Optional<Cell>> cells = sizes.stream()
                    .map(size -> table.row(ours, pattern, size)
                            .flatMap(mine -> table.row(peer, pattern, size).map(theirs -> new Cell(mine, theirs))))
                    .toList();
            if (cells.stream().anyMatch(Optional::isPresent)) {
                found.add(new Line(peer, cells));
            }
        }
        return found;
    }

    /** At how many sizes ours is the fastest of all, as words. */
    String lead(String pattern) {
        int all = 0;
        int first = 0;
        for (int i = 0; i < sizes.size(); i++) {
            int column = i;
            List<Cell> cells = lines.getOrDefault(pattern, List.of()).stream()
                    .flatMap(line -> line.cells().get(column).stream())
                    .toList();
            all += cells.isEmpty() ? 0 : 1;
            first += !cells.isEmpty() && cells.stream().allMatch(cell -> cell.value() >= 1) ? 1 : 0;
        }
        return "faster than every peer at " + first + " of " + all + (all == 1 ? " size" : " sizes");
    }
}
