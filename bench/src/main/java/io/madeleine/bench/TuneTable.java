package io.madeleine.bench;

import io.madeleine.bench.measure.Pattern;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/**
 * What {@code mad tune} has measured, as people read it.
 *
 * <p>Threading: confined to caller.
 */
final class TuneTable {
    private static final long KIB = 1024;
    private static final double SMALL_BYTES = 16.0 * KIB;
    private static final String COLUMN = "  %-12s %11s";

    private TuneTable() {}

    static void print(PrintWriter out, Tuning tuning) {
        List<Mechanism> mechanisms = List.copyOf(tuning.measuredUs().keySet());
        out.println(tuning.where() + ": "
                + what(tuning.what())
                + " in us, measured and (predicted by the model below)"
                + (tuning.noisy() ? "; the machine was too noisy, do not trust these figures" : ""));
        StringBuilder head = new StringBuilder("%10s".formatted("size"));
        mechanisms.forEach(mechanism -> head.append(COLUMN.formatted(mechanism.id(), "")));
        out.println(head.toString().stripTrailing());
        for (long bytes : Mechanism.sizes(mechanisms)) {
            StringBuilder line = new StringBuilder("%10s".formatted(PerfTable.size(bytes)));
            for (Mechanism mechanism : mechanisms) {
                Double us = tuning.of(mechanism).get(bytes);
                line.append(
                        us == null
                                ? COLUMN.formatted("", "")
                                : COLUMN.formatted(
                                        Json.plain(us),
                                        "(" + rounded(tuning.model(mechanism).predictedUs((double) bytes)) + ")"));
            }
            out.println(line.toString().stripTrailing());
        }
        for (Mechanism mechanism : mechanisms) {
            CostModel model = tuning.model(mechanism);
            out.println("%12s: %s us + size / %s GB/s"
                    .formatted(mechanism.id(), rounded(model.latencyUs()), rounded(model.bytesPerUs() / 1000)));
        }
        crossovers(out, tuning);
        out.println();
    }

    private static void crossovers(PrintWriter out, Tuning tuning) {
        List<Mechanism> mechanisms = List.copyOf(tuning.measuredUs().keySet());
        for (int i = 1; i < mechanisms.size(); i++) {
            Mechanism before = mechanisms.get(i - 1);
            Mechanism next = mechanisms.get(i);
            String where = next.keys().before().isPresent()
                    ? "above " + PerfTable.size(tuning.longestBefore(next, before))
                    : tuning.range(next, before).map(TuneTable::range).orElse("nowhere");
            out.println(next.id() + " overtakes " + before.id() + " " + where + "; predicted "
                    + size(tuning.model(next).fasterFromBytes(tuning.model(before))));
        }
    }

    private static String what(Pattern pattern) {
        if (pattern == Pattern.LATENCY) {
            return "half a round trip";
        }
        return pattern == Pattern.OSU_LATENCY ? "half a round trip of blocks of one's own" : "a message of a stream";
    }

    private static String range(SizeRange range) {
        return "from " + PerfTable.size(range.fromBytes())
                + (range.isUnlimited() ? "" : " to " + PerfTable.size(range.toBytes()));
    }

    private static String size(double bytes) {
        long rounded = bytes < SMALL_BYTES ? Math.round(bytes) : KIB * Math.round(bytes / KIB);
        return Double.isInfinite(bytes) ? "nowhere" : "from " + PerfTable.size(rounded);
    }

    private static String rounded(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    }
}
