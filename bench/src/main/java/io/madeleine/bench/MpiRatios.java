package io.madeleine.bench;

import io.madeleine.bench.measure.Subject.Kind;
import io.madeleine.bench.report.Family;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Our figures of MPI beside those of the better of the MPIs in C that go the same way, through memory or through the
 * network stack.
 *
 * <p>Threading: stateless.
 */
final class MpiRatios {
    private MpiRatios() {}

    /** Prints a line for each row of ours of which there is one in C; nothing if there is none. */
    static void print(PrintWriter out, List<PerfRow> rows) {
        boolean isFirst = true;
        for (PerfRow row : rows) {
            Optional<PerfRow> best = best(rows, row);
            if (best.isEmpty()) {
                continue;
            }
            if (isFirst) {
                out.println("\nmedians, divided by those of the better MPI in C:");
                isFirst = false;
            }
            out.println("%-24s %8s  %6.2f  %s / %s"
                    .formatted(
                            row.pattern().word(),
                            PerfTable.size(row.bytes()),
                            row.figures().median() / best.get().figures().median(),
                            row.title(),
                            best.get().title()));
        }
        out.flush();
    }

    /**
     * The row in C of the same pattern, size, way and wait mode with the better median; empty for rows that are not
     * ours.
     */
    static Optional<PerfRow> best(List<PerfRow> rows, PerfRow ours) {
        if (ours.label().kind() != Kind.PROTOCOL || !ours.pattern().isOfProgram()) {
            return Optional.empty();
        }
        Comparator<PerfRow> byMedian =
                Comparator.comparingDouble(row -> row.figures().median());
        Family way = Family.of(true, ours.label().name());
        return rows.stream()
                .filter(row -> row.label().kind() == Kind.PEER
                        && row.pattern().equals(ours.pattern())
                        && row.bytes() == ours.bytes()
                        && row.label()
                                .variant()
                                .waiting()
                                .equals(ours.label().variant().waiting())
                        && Family.of(false, row.label().name()) == way)
                .min(ours.pattern().isDuration() ? byMedian : byMedian.reversed());
    }
}
