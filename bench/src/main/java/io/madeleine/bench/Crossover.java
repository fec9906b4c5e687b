package io.madeleine.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Where one mechanism overtakes another, by measured times.
 *
 * <p>Threading: stateless.
 */
final class Crossover {
    /** The fraction by which the challenger has to be faster: in a tie, the mechanism that needs less stays. */
    static final double MARGIN = 0.05;

    private Crossover() {}

    /**
     * The smallest size from which on, at all sizes that were measured of both, the challenger is clearly faster; empty
     * if there is none.
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

    /**
     * The sizes, next to each other, at which the challenger is clearly faster: of several such ranges the one with the
     * most sizes that were measured of both, of equal ones that of larger sizes; empty if there is none.
     */
    static Optional<SizeRange> fasterWithin(Map<Long, Double> challengerUs, Map<Long, Double> incumbentUs) {
        List<Long> sizes = new ArrayList<>(new TreeMap<>(challengerUs).keySet());
        sizes.retainAll(incumbentUs.keySet());
        Optional<SizeRange> best = Optional.empty();
        int most = 0;
        int begin = 0;
        for (int i = 0; i < sizes.size(); i++) {
            long size = sizes.get(i);
            double challenger = Objects.requireNonNull(challengerUs.get(size));
            double incumbent = Objects.requireNonNull(incumbentUs.get(size));
            if (challenger > (1 - MARGIN) * incumbent) {
                begin = i + 1;
            } else if (i + 1 - begin >= most) {
                most = i + 1 - begin;
                boolean toTheEnd = i + 1 == sizes.size();
                best = Optional.of(new SizeRange(sizes.get(begin), toTheEnd ? Long.MAX_VALUE : size));
            }
        }
        return best;
    }
}
