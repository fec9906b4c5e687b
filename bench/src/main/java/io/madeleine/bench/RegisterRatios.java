package io.madeleine.bench;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Subject.Kind;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;

/**
 * Compares our registrations of memory with a copy of the same number of bytes, and with those of a program in C over
 * the same provider. The program locks its pages if ours are locked.
 *
 * <p>Threading: stateless.
 */
final class RegisterRatios {
    private static final Optional<String> COPIED = Optional.of(RegisterSubject.COPIED);

    private RegisterRatios() {}

    /** Prints a line for each row of ours and each row to which it is compared; prints nothing if there is none. */
    static void print(PrintWriter out, List<PerfRow> rows) {
        boolean isFirst = true;
        for (PerfRow row : rows) {
            for (PerfRow other : beside(rows, row)) {
                if (isFirst) {
                    out.println("\nmedians of registrations, divided by those of a copy and of C:");
                    isFirst = false;
                }
                out.println("%-12s %8s  %6.2f  %s / %s"
                        .formatted(
                                row.pattern().word(),
                                PerfTable.size(row.bytes()),
                                row.figures().median() / other.figures().median(),
                                row.title(),
                                other.title()));
            }
        }
        out.flush();
    }

    /** The rows to which a row of our registrations is compared; none for other rows. */
    private static List<PerfRow> beside(List<PerfRow> rows, PerfRow ours) {
        if (ours.pattern() != Pattern.REGISTER || ours.label().kind() != Kind.PROTOCOL || isCopy(ours)) {
            return List.of();
        }
        return rows.stream()
                .filter(row -> row.pattern() == Pattern.REGISTER
                        && row.bytes() == ours.bytes()
                        && waiting(row).equals(waiting(ours))
                        && (isCopy(row) ? isOfNetwork(row, ours) : isInC(row, ours)))
                .toList();
    }

    private static boolean isCopy(PerfRow row) {
        return setup(row).equals(COPIED);
    }

    private static boolean isOfNetwork(PerfRow row, PerfRow ours) {
        return row.label().name().equals(ours.label().name());
    }

    private static boolean isInC(PerfRow row, PerfRow ours) {
        String provider = Network.provider(ours.label().name());
        return row.label().kind() == Kind.PEER
                && isLocked(row) == isLocked(ours)
                && !provider.isEmpty()
                && Network.provider(row.label().name()).equals(provider);
    }

    private static boolean isLocked(PerfRow row) {
        return RegisterSubject.isLocked(row.label().variant());
    }

    private static Optional<String> setup(PerfRow row) {
        return row.label().variant().setup();
    }

    private static Optional<String> waiting(PerfRow row) {
        return row.label().variant().waiting();
    }
}
