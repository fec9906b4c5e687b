package io.madeleine.bench;

import io.madeleine.bench.measure.Pattern;
import java.util.EnumMap;
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
 * @param what what the times are: half round trips, or of one message in a stream
 * @param measuredUs times by mechanism and size; a mechanism that cannot be used is left out
 * @param noisy whether the machine was too noisy for most of it
 */
record Tuning(String where, Pattern what, Map<Mechanism, Map<Long, Double>> measuredUs, boolean noisy) {
    /** From the rows of a run that have this pattern, latency or bandwidth. */
    static Tuning of(String where, Pattern what, List<PerfRow> rows) {
        Map<Mechanism, Map<Long, Double>> measured = new EnumMap<>(Mechanism.class);
        boolean noisy = false;
        for (PerfRow row : rows) {
            for (Mechanism mechanism : Mechanism.values()) {
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

    /** The same where noise was made on purpose. */
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

    /** The largest block for the ring: the size measured before the first from which the cells stay faster. */
    long shortMaxBlockBytes() {
        OptionalLong from = Crossover.fasterFrom(common(Mechanism.REGULAR, Mechanism.SHORT), of(Mechanism.SHORT));
        return of(Mechanism.SHORT).keySet().stream()
                .filter(bytes -> from.isEmpty() || bytes < from.getAsLong())
                .reduce(0L, Math::max);
    }

    /** The blocks for single copy; empty if the cells are as fast at all sizes. */
    Optional<SizeRange> singleCopy() {
        return Crossover.fasterWithin(of(Mechanism.DMA), of(Mechanism.REGULAR));
    }

    /** Of one mechanism, the sizes at which the other was measured, too. */
    private Map<Long, Double> common(Mechanism one, Mechanism other) {
        Map<Long, Double> common = new TreeMap<>(of(one));
        common.keySet().retainAll(of(other).keySet());
        return common;
    }
}
