package io.madeleine.pmm.handshake;

import org.jspecify.annotations.Nullable;

/**
 * The earliest of many deadlines. It may be one that no longer applies: when it is due, its user clears it and adds
 * those that are left.
 *
 * <p>Threading: as for the {@link ConnectionManager}.
 */
final class NextDeadline {
    private @Nullable Long nextNs;

    void add(long deadlineNs) {
        Long next = nextNs;
        if (next == null || deadlineNs - next < 0) {
            nextNs = deadlineNs;
        }
    }

    void clear() {
        nextNs = null;
    }

    /** The time until the deadline in nanoseconds, at least 0; {@link Long#MAX_VALUE} if there is none. */
    long untilNextNs(long nowNs) {
        Long next = nextNs;
        return next == null ? Long.MAX_VALUE : Math.max(0, next - nowNs);
    }
}
