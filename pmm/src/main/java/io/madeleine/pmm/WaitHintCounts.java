package io.madeleine.pmm;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Counts the wait hints for the leader's polling: those of parked threads, and of channels with a handler.
 *
 * <p>Threading: thread-safe.
 */
final class WaitHintCounts {
    private static final WaitHint[] HINTS = WaitHint.values();

    private final AtomicIntegerArray counts = new AtomicIntegerArray(HINTS.length);

    /** Adds a waiter with this hint, or none. */
    @SuppressWarnings("EnumOrdinal") // an index, nothing that persists
    void add(@Nullable WaitHint hint) {
        if (hint != null) {
            counts.getAndIncrement(hint.ordinal());
        }
    }

    /** Removes a waiter with this hint, or none. */
    @SuppressWarnings("EnumOrdinal")
    void remove(@Nullable WaitHint hint) {
        if (hint != null) {
            counts.getAndDecrement(hint.ordinal());
        }
    }

    /** The most impatient hint among them and the leader; {@link WaitHint#AUTO} if there is none. */
    @SuppressWarnings("EnumOrdinal")
    WaitHint of(@Nullable WaitHint leaders) {
        int own = leaders == null ? -1 : leaders.ordinal();
        for (int i = HINTS.length - 1; i >= 0; i--) {
            if (i == own || counts.get(i) > 0) {
                return HINTS[i];
            }
        }
        return WaitHint.AUTO;
    }
}
