package io.madeleine.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The thresholds between the modules of a network that serve all that was measured, each pair of processors and each way of use:
 * of largest blocks the smallest, of ranges what they have in common.
 *
 * <p>Threading: stateless.
 */
final class Thresholds {
    private Thresholds() {}

    /**
     * Key and value of each setting.
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

    /** The blocks that the next module should take; empty if all are as well off with the one before. */
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
