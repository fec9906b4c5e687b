package io.madeleine.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Two sentences: what was measured, and what came out. They are made from the figures and say where a peer is faster.
 *
 * <p>Threading: stateless.
 */
final class Summary {
    private static final int MOST_NAMED = 4;

    private Summary() {}

    static String measured(Rows rows, Table table) {
        List<String> ours = table.subjects().stream()
                .filter(Subject::ours)
                .map(Subject::label)
                .toList();
        List<String> peers = table.subjects().stream()
                .filter(subject -> !subject.ours())
                .map(Subject::label)
                .toList();
        List<Long> sizes = table.rows().stream()
                .map(ReportRow::sizeBytes)
                .distinct()
                .sorted()
                .toList();
        String range = sizes.size() == 1
                ? Html.size(sizes.getFirst())
                : Html.size(sizes.getFirst()) + " to " + Html.size(sizes.getLast());
        String who = ours.isEmpty() ? "" : "Madeleine over " + list(ours);
        String others = peers.size() <= MOST_NAMED ? list(peers) : peers.size() + " peers";
        String beside = who.isEmpty() || peers.isEmpty() ? others : " beside " + others;
        return who + beside + ": messages of " + range + " between two processes of one machine" + how(rows.machine())
                + ".";
    }

    private static String how(Machine machine) {
        StringBuilder how = new StringBuilder();
        if (!machine.fact("wait").isEmpty()) {
            how.append(
                    switch (machine.fact("wait")) {
                        case "spin" -> ", spinning while they wait";
                        case "block" -> ", sleeping while they wait";
                        default -> ", waiting in mode " + machine.fact("wait");
                    });
        }
        if (machine.fact("pinned").equals("true")) {
            how.append(", each on a core of its own");
        }
        if (!machine.fact("rounds").isEmpty() && !machine.fact("rounds").equals("1")) {
            how.append(", medians of ").append(machine.fact("rounds")).append(" interleaved rounds");
        }
        return how.toString();
    }

    static String result(Table table) {
        List<String> parts = new ArrayList<>();
        for (Subject ours : table.subjects()) {
            if (ours.ours()) {
                List<String> said = new ArrayList<>();
                latency(table, ours).ifPresent(said::add);
                bandwidth(table, ours).ifPresent(said::add);
                if (!said.isEmpty()) {
                    parts.add(ours.label() + " " + String.join(" and ", said));
                }
            }
        }
        String text = String.join("; ", parts);
        return text.isEmpty() ? "" : text + ".";
    }

    private static Optional<String> latency(Table table, Subject ours) {
        return table.rows(ours, "latency").stream().findFirst().map(row -> {
            Optional<ReportRow> best = table.rivals(ours).stream()
                    .flatMap(peer -> table.row(peer, "latency", row.sizeBytes()).stream())
                    .min(Comparator.comparingDouble(ReportRow::median));
            return "takes " + row.unit().text(row.median()) + " for " + Html.size(row.sizeBytes())
                    + best.map(Summary::beside).orElse("");
        });
    }

    private static Optional<String> bandwidth(Table table, Subject ours) {
        return most(table.rows(ours, "bandwidth")).map(row -> {
            Optional<ReportRow> best = most(table.rivals(ours).stream()
                    .flatMap(peer -> table.rows(peer, "bandwidth").stream())
                    .toList());
            return "streams up to " + row.unit().text(row.median())
                    + best.map(Summary::beside).orElse("");
        });
    }

    private static Optional<ReportRow> most(List<ReportRow> rows) {
        return rows.stream().max(Comparator.comparingDouble(ReportRow::median));
    }

    private static String beside(ReportRow best) {
        return " (best peer " + best.subject() + ", " + best.unit().text(best.median()) + ")";
    }

    /** {@code a}, {@code a and b}, {@code a, b and c}. */
    static String list(List<String> names) {
        return names.size() < 2
                ? String.join("", names)
                : String.join(", ", names.subList(0, names.size() - 1)) + " and " + names.getLast();
    }
}
