package io.madeleine.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The thresholds between the modules of a network that suit all measurements, that is all pairs of processors and all
 * kinds of use: the smallest of the largest blocks, and the intersection of the ranges.
 *
 * <p>Threading: stateless.
 */
final class Thresholds {
    private Thresholds() {}

    /**
     * The settings, by their keys.
     *
     * @param mechanisms those measured, in the order of selection
     */
    static List<String> settings(List<Mechanism> mechanisms, List<Tuning> tunings) {
        List<String> settings = new ArrayList<>();
        for (int i = 1; i < mechanisms.size(); i++) {
            Mechanism before = mechanisms.get(i - 1);
            Mechanism after = mechanisms.get(i);
            after.keys()
                    .before()
                    .ifPresent(key -> settings.add(key + " = "
                            + tunings.stream()
                                    .mapToLong(tuning -> tuning.longestBefore(after, before))
                                    .min()
                                    .orElseThrow()));
            settings.addAll(range(before, after, tunings));
        }
        return settings;
    }

    /** The sizes of blocks that the next module should take; empty if the module before is as fast for all. */
    static Optional<SizeRange> common(Mechanism before, Mechanism after, List<Tuning> tunings) {
        Optional<SizeRange> common = tunings.getFirst().range(after, before);
        for (Tuning tuning : tunings) {
            common = common.flatMap(range -> tuning.range(after, before).flatMap(range::common));
        }
        return common;
    }

    private static List<String> range(Mechanism before, Mechanism after, List<Tuning> tunings) {
        Mechanism.Keys keys = after.keys();
        Optional<SizeRange> common = common(before, after, tunings);
        List<String> settings = new ArrayList<>();
        if (common.isPresent()) {
            SizeRange range = common.get();
            settings.addAll(keys.with());
            keys.from().ifPresent(key -> settings.add(key + " = " + range.fromBytes()));
            keys.to()
                    .ifPresent(
                            key -> settings.add(key + " = " + (range.isUnlimited() ? "unlimited" : range.toBytes())));
        } else {
            keys.to().ifPresent(key -> settings.add(key + " = none"));
        }
        return settings;
    }
}
