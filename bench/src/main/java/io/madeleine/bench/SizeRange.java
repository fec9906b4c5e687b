package io.madeleine.bench;

import java.util.Optional;

/**
 * Sizes of blocks.
 *
 * @param fromBytes the smallest
 * @param toBytes the largest, {@link Long#MAX_VALUE} for any
 */
record SizeRange(long fromBytes, long toBytes) {
    boolean isUnlimited() {
        return toBytes == Long.MAX_VALUE;
    }

    /** The sizes that are in both. */
    Optional<SizeRange> common(SizeRange other) {
        long from = Math.max(fromBytes, other.fromBytes);
        long to = Math.min(toBytes, other.toBytes);
        return from <= to ? Optional.of(new SizeRange(from, to)) : Optional.empty();
    }
}
