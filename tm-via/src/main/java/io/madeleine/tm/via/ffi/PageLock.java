package io.madeleine.tm.via.ffi;

/**
 * Locks pages in memory ({@code mlock}), as the registration of memory does with RDMA hardware. Locks do not nest: the
 * first unlock of a page ends all its locks.
 *
 * <p>Threading: stateless.
 */
public final class PageLock {
    private PageLock() {}

    /**
     * Locks the pages of a range.
     *
     * @throws FabricException if the process may not lock as much; {@link Flags#FI_ENOMEM} as of a registration
     */
    public static void lock(long address, long bytes) {
        if (!Libc.lockPages(address, bytes)) {
            throw LockLimit.exceeded(bytes + " bytes cannot be locked in memory");
        }
    }

    /** Unlocks the pages of a range. */
    public static void unlock(long address, long bytes) {
        Libc.unlockPages(address, bytes);
    }
}
