package io.madeleine.pmm.spi;

import org.jspecify.annotations.Nullable;

/**
 * The session's memory as its modules see it: a changing set of regions. Several modules may register the same region.
 *
 * <p>Threading: thread-safe; {@link #find} takes no lock and allocates nothing.
 */
public interface SessionMemory {
    /** The region that contains this address, or null if none does. Takes time logarithmic in the number of regions. */
    @Nullable
    Region find(long address);

    /** Reports all present regions before it returns, and from then on every region that is added or removed. */
    void listen(RegionListener listener);

    /** Ends the reports; waits for calls in progress. */
    void forget(RegionListener listener);

    /** Memory without any regions. */
    static SessionMemory none() {
        return None.INSTANCE;
    }

    /** The memory of a process without a session. */
    final class None implements SessionMemory {
        private static final None INSTANCE = new None();

        private None() {}

        @Override
        public @Nullable Region find(long address) {
            return null;
        }

        @Override
        public void listen(RegionListener listener) {
            // no region ever appears
        }

        @Override
        public void forget(RegionListener listener) {
            // no region ever appeared
        }
    }
}
