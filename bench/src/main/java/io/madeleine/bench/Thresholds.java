package io.madeleine.bench;

import java.util.List;
import java.util.OptionalLong;

/**
 * The thresholds that serve all pairs of processors that were measured: where they differ, those which leave more to {@code
 * sci/regular}.
 *
 * <p>Threading: immutable.
 *
 * @param shortMaxBlockBytes the largest block for {@code sci/short}
 * @param dmaFromBytes the smallest block for {@code sci/dma}; empty for no single copy
 */
record Thresholds(long shortMaxBlockBytes, OptionalLong dmaFromBytes) {
    static Thresholds of(List<Tuning> tunings) {
        long shortMaxBlockBytes =
                tunings.stream().mapToLong(Tuning::shortMaxBlockBytes).min().orElseThrow();
        boolean everywhere =
                tunings.stream().allMatch(tuning -> tuning.dmaFromBytes().isPresent());
        return new Thresholds(
                shortMaxBlockBytes,
                everywhere
                        ? tunings.stream()
                                .mapToLong(tuning -> tuning.dmaFromBytes().getAsLong())
                                .max()
                        : OptionalLong.empty());
    }

    /** Key and value of each setting. */
    List<String> settings() {
        String prefix = "madeleine.tm.sci.";
        String shortest = prefix + "short.max-block = " + shortMaxBlockBytes;
        return dmaFromBytes.isPresent()
                ? List.of(shortest, prefix + "dma.single-copy = on", prefix + "dma.from = " + dmaFromBytes.getAsLong())
                : List.of(shortest, prefix + "dma.single-copy = off");
    }
}
