package io.madeleine.pmm.spi;

import org.jspecify.annotations.Nullable;

/**
 * The memory of a session, as its modules see it: regions that come and go. Several modules may register the same region.
 *
 * <p>Threading: thread-safe; {@link #find} takes no lock and allocates nothing.
 */
public interface SessionMemory {
    /** The region that this address is in, or null if it is none of the session's. Its number of regions costs a logarithm. */
    @Nullable
    Region find(long address);

    /** Tells of the regions that there are, before this returns, and from then on of all that come and go. */
    void listen(RegionListener listener);

    /** Tells no more; waits for calls that are being made. */
    void forget(RegionListener listener);

    /** Memory without any regions. */
    static SessionMemory none() {
        return None.INSTANCE;
    }

    /** For processes that have no session. */
    final class None implements SessionMemory {
        private static final None INSTANCE = new None();

        private None() {}

        @Override
        public @Nullable Region find(long address) {
            return null;
        }

        @Override
        public void listen(RegionListener listener) {
            // there is nothing to tell
        }

        @Override
        public void forget(RegionListener listener) {
            // nor was there
        }
    }
}
