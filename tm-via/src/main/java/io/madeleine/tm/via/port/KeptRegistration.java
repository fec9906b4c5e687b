package io.madeleine.tm.via.port;

import io.madeleine.tm.via.ffi.Registration;
import org.jspecify.annotations.Nullable;

/**
 * A cell of the session's memory, registered. It stays registered for a while after its use.
 *
 * <p>Threading: immutable for its users; the rest is guarded by the lock of {@link KeptRegistrations}.
 */
public final class KeptRegistration {
    private static final @Nullable KeptRegistration[] NO_CELLS = new KeptRegistration[0];

    private final KeptRegistrations all;
    private final @Nullable KeptRegistration[] cells;
    private final int number;
    private final long base;
    private final long bytes;
    private final @Nullable Registration registration;
    private KeptRegistration next = this;
    private KeptRegistration previous = this;

    /** How many use it now. */
    int uses;

    /** Whether its region is gone: it ends with its last use. */
    boolean isStale;

    /** The end of a ring. */
    KeptRegistration(KeptRegistrations all) {
        this.all = all;
        this.cells = NO_CELLS;
        this.number = 0;
        this.base = 0;
        this.bytes = 0;
        this.registration = null;
    }

    /** For one use. */
    KeptRegistration(KeptRegistrations all, long base, long bytes, Registration registration) {
        this(all, NO_CELLS, 0, base, bytes, registration);
    }

    KeptRegistration(
            KeptRegistrations all,
            @Nullable KeptRegistration[] cells,
            int number,
            long base,
            long bytes,
            Registration registration) {
        this.all = all;
        this.cells = cells;
        this.number = number;
        this.base = base;
        this.bytes = bytes;
        this.registration = registration;
    }

    /** The address of the cell's first byte. */
    public long base() {
        return base;
    }

    long bytes() {
        return bytes;
    }

    /** The key for peers. */
    public long key() {
        return registration == null ? 0 : registration.key();
    }

    /** The descriptor for local operations. */
    public long descriptor() {
        return registration == null ? 0 : registration.descriptor();
    }

    /** Ends one use. */
    public void endUse() {
        all.endUse(this);
    }

    KeptRegistration previous() {
        return previous;
    }

    void unlink() {
        next.previous = previous;
        previous.next = next;
        next = this;
        previous = this;
    }

    void linkAfter(KeptRegistration end) {
        next = end.next;
        previous = end;
        next.previous = this;
        end.next = this;
    }

    /** Nobody finds it any more. */
    void forget() {
        cells[number] = null;
    }

    void closeRegistration() {
        if (registration != null) {
            registration.close();
        }
    }
}
