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

    Registration(Handle region, long descriptor, long key) {
        this.region = region;
        this.descriptor = descriptor;
        this.key = key;
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
    }
}
