package io.madeleine.bench;

import io.madeleine.bench.measure.Usage;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The results as people read them: a table per subject and pattern.
 *
 * <p>Threading: confined to caller.
 */
final class PerfTable {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB"};

    private PerfTable() {}

    static void print(PrintWriter out, List<PerfRow> rows, PerfRow.Extras extras) {
        String title = "";
        for (PerfRow row : rows) {
            String next = row.title() + ", " + row.pattern().word() + " in "
                    + row.pattern().unit() + " (" + row.pattern().meaning() + ")";
            if (!next.equals(title)) {
                out.println(title.isEmpty() ? next : "\n" + next);
                out.println(line(
                        "size",
                        row.label().transmissionModule().isPresent() ? "module" : "",
                        List.of("min", "median", "p99", "max", "spread"),
                        extras.allocations() ? "B/message" : "",
                        extras.usage() ? "CPU %  switches/message" : ""));
                title = next;
            }
            Figures figures = row.figures();
            out.println(line(
                    size(row.bytes()),
                    row.label().transmissionModule().orElse(""),
                    List.of(
                            Json.plain(figures.min()),
                            Json.plain(figures.median()),
                            Json.plain(figures.p99()),
                            Json.plain(figures.max()),
                            Math.round(100 * figures.spread()) + " %"),
                    extras.allocations() ? shown(figures.usage().allocatedBytes()) : "",
                    (extras.usage() ? usage(figures.usage()) : "") + (row.noisy() ? "  noisy" : "")));
        }
        out.flush();
    }

    static void printFailed(PrintWriter out, List<FailedRow> failed) {
        failed.forEach(row -> out.println("\n" + row));
        out.flush();
    }

    static void print(PrintWriter out, List<AbsentPeer> absent) {
        absent.forEach(peer -> out.println("\n" + peer.name() + " was not measured: " + peer.reason()));
        out.flush();
    }

    private static String line(String size, String module, List<String> figures, String allocated, String rest) {
        List<String> columns = new ArrayList<>();
        columns.add("%10s  %-13s".formatted(size, module));
        figures.forEach(figure -> columns.add("%12s".formatted(figure)));
        columns.add(allocated.isEmpty() ? "" : "%10s".formatted(allocated));
        columns.add(rest);
        return String.join(" ", columns).stripTrailing();
    }

    private static String usage(Usage usage) {
        return shown(Math.rint(usage.driverCpuPercent())) + " + " + shown(Math.rint(usage.responderCpuPercent())) + "  "
                + shown(usage.contextSwitches());
    }

    private static String shown(double figure) {
        return Double.isFinite(figure) ? Json.plain(figure) : "?";
    }

    /** In the largest unit that needs no fraction. */
    static String size(long bytes) {
        int unit = bytes == 0 ? 0 : Math.min(Long.numberOfTrailingZeros(bytes) / 10, UNITS.length - 1);
        return (bytes >> (10 * unit)) + " " + UNITS[unit];
    }
}
