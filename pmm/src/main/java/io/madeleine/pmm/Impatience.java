package io.madeleine.pmm;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Who waits beside the leader, and what counts for them: parked threads, and channels with a handler.
 *
 * <p>Threading: thread-safe.
 */
final class Impatience {
    private static final WaitHint[] HINTS = WaitHint.values();

    private final AtomicIntegerArray counts = new AtomicIntegerArray(HINTS.length);

    /** One more waits, with this hint or none. */
    @SuppressWarnings("EnumOrdinal") // an index, nothing that lasts
    void add(@Nullable WaitHint hint) {
        if (hint != null) {
            counts.getAndIncrement(hint.ordinal());
        }
    }

    /** One of those waits no more. */
    @SuppressWarnings("EnumOrdinal")
    void remove(@Nullable WaitHint hint) {
        if (hint != null) {
            counts.getAndDecrement(hint.ordinal());
        }
    }

    /** What counts for the most impatient of them and of the leader itself; {@link WaitHint#AUTO} if nobody says anything. */
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
