package io.madeleine.pmm.handshake;

import org.jspecify.annotations.Nullable;

/**
 * The next of many deadlines, or an earlier one that does not count any more: who looks then adds those that are left.
 *
 * <p>Threading: as the {@link ConnectionManager} says.
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

    /** How long until then; {@link Long#MAX_VALUE} if there is none. */
    long untilNextNs(long nowNs) {
        Long next = nextNs;
        return next == null ? Long.MAX_VALUE : Math.max(0, next - nowNs);
    }
}
