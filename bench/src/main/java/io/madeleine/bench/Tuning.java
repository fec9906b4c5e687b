package io.madeleine.bench;

import io.madeleine.bench.measure.Pattern;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * What was measured between two processors, and what follows from it.
 *
 * <p>Threading: immutable.
 *
 * @param where the processors, in words
 * @param what what the times are: half round trips of blocks sent back or of own ones, or of one message in a stream
 * @param measuredUs times by mechanism, in the order of selection, and size; a mechanism that cannot be used is left
 *     out
 * @param noisy whether the machine was too noisy for most of it
 */
record Tuning(String where, Pattern what, Map<Mechanism, Map<Long, Double>> measuredUs, boolean noisy) {
    /** From the rows of a run that have this pattern, one of latency or bandwidth. */
    static Tuning of(String where, Pattern what, List<Mechanism> mechanisms, List<PerfRow> rows) {
        Map<Mechanism, Map<Long, Double>> measured = new LinkedHashMap<>();
        boolean noisy = false;
        for (Mechanism mechanism : mechanisms) {
            for (PerfRow row : rows) {
                boolean its = row.label()
                        .variant()
                        .layer()
                        .filter(mechanism.id()::equals)
                        .isPresent();
                if (its && row.pattern() == what) {
                    double median = row.figures().median();
                    measured.computeIfAbsent(mechanism, _ -> new TreeMap<>())
                            .put(row.bytes(), what == Pattern.BANDWIDTH ? row.bytes() / median : median);
                    noisy |= row.noisy();
                }
            }
        }
        return new Tuning(where, what, measured, noisy);
    }

    /** The same for a run in which noise was made on purpose. */
    Tuning despiteNoise() {
        return new Tuning(where, what, measuredUs, false);
    }

    /** The times of a mechanism by size; empty if it was not measured. */
    Map<Long, Double> of(Mechanism mechanism) {
        return measuredUs.getOrDefault(mechanism, Map.of());
    }

    CostModel model(Mechanism mechanism) {
        return CostModel.fit(of(mechanism));
    }

    /**
     * The largest block to be left to one mechanism: the size measured before the first from which the next one stays
     * faster.
     */
    long longestBefore(Mechanism next, Mechanism before) {
        OptionalLong from = Crossover.fasterFrom(common(next, before), of(before));
        return of(before).keySet().stream()
                .filter(bytes -> from.isEmpty() || bytes < from.getAsLong())
                .reduce(0L, Math::max);
    }

    /** The blocks for the next mechanism; empty if the one before is as fast at all sizes. */
    Optional<SizeRange> range(Mechanism next, Mechanism before) {
        return Crossover.fasterWithin(of(next), of(before));
    }

    /** The sizes of one mechanism at which the other was measured, too. */
    private Map<Long, Double> common(Mechanism one, Mechanism other) {
        Map<Long, Double> common = new TreeMap<>(of(one));
        common.keySet().retainAll(of(other).keySet());
        return common;
    }
}
