package io.madeleine.bench;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Where one mechanism overtakes another, by measured times.
 *
 * <p>Threading: stateless.
 */
final class Crossover {
    /** Who is to take over has to be faster by so much, in parts: a tie is no reason to leave what needs less. */
    static final double MARGIN = 0.05;

    private Crossover() {}

    /**
     * The smallest size from which on, at all sizes that were measured of both, the challenger is clearly faster; empty if
     * there is none.
     */
    static OptionalLong fasterFrom(Map<Long, Double> challengerUs, Map<Long, Double> incumbentUs) {
        OptionalLong from = OptionalLong.empty();
        for (Map.Entry<Long, Double> point :
                new TreeMap<>(challengerUs).descendingMap().entrySet()) {
            Double incumbent = incumbentUs.get(point.getKey());
            if (incumbent == null) {
                continue;
            }
            if (point.getValue() > (1 - MARGIN) * incumbent) {
                break;
            }
            from = OptionalLong.of(point.getKey());
        }
        return from;
    }
}
