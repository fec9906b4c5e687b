package io.madeleine.bench;

import java.util.List;
import java.util.Optional;

/**
 * The thresholds that serve all pairs of processors that were measured: where they differ, those which leave more to {@code
 * sci/regular}.
 *
 * <p>Threading: immutable.
 *
 * @param shortMaxBlockBytes the largest block for {@code sci/short}
 * @param singleCopy the blocks for {@code sci/dma}; empty for no single copy
 */
record Thresholds(long shortMaxBlockBytes, Optional<SizeRange> singleCopy) {
    static Thresholds of(List<Tuning> tunings) {
        long shortMaxBlockBytes =
                tunings.stream().mapToLong(Tuning::shortMaxBlockBytes).min().orElseThrow();
        Optional<SizeRange> singleCopy = tunings.getFirst().singleCopy();
        for (Tuning tuning : tunings) {
            singleCopy = singleCopy.flatMap(range -> tuning.singleCopy().flatMap(range::common));
        }
        return new Thresholds(shortMaxBlockBytes, singleCopy);
    }

    /** Key and value of each setting. */
    List<String> settings() {
        String prefix = "madeleine.tm.sci.";
        String shortest = prefix + "short.max-block = " + shortMaxBlockBytes;
        String dma = prefix + "dma.";
        return singleCopy
                .map(range -> List.of(
                        shortest,
                        dma + "single-copy = on",
                        dma + "from = " + range.fromBytes(),
                        dma + "to = " + (range.isUnlimited() ? "unlimited" : range.toBytes())))
                .orElse(List.of(shortest, dma + "to = none"));
    }
}
