package io.madeleine.tm.via.ffi;

/**
 * Registered memory.
 *
 * <p>Threading: immutable; one thread closes it, once.
 */
public final class Registration implements AutoCloseable {
    private final Handle region;
    private final long descriptor;
    private final long key;
    private final long pinnedAddress;
    private final long pinnedBytes;

    Registration(Handle region, long descriptor, long key) {
        this(region, descriptor, key, 0, 0);
    }

    private Registration(Handle region, long descriptor, long key, long pinnedAddress, long pinnedBytes) {
        this.region = region;
        this.descriptor = descriptor;
        this.key = key;
        this.pinnedAddress = pinnedAddress;
        this.pinnedBytes = pinnedBytes;
    }

    /** The same, which also ends a {@link PageLock} on this range; use only the result. */
    public Registration pinned(long address, long bytes) {
        return new Registration(region, descriptor, key, address, bytes);
    }

    /** The descriptor for local operations. */
    public long descriptor() {
        return descriptor;
    }

    /** The key for peers. */
    public long key() {
        return key;
    }

    /** Ends the registration: peers can no longer access the memory. */
    @Override
    public void close() {
        region.close();
        if (pinnedBytes > 0) {
            PageLock.unlock(pinnedAddress, pinnedBytes);
        }
    }
}
