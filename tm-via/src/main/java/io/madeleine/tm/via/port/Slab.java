package io.madeleine.tm.via.port;

import io.madeleine.tm.via.ffi.Registration;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A piece of memory from which an endpoint sends or into which it receives, registered if the provider asks for that.
 *
 * <p>Threading: the fields are immutable; one thread closes it, after all operations on it have completed.
 */
public final class Slab implements AutoCloseable {
    private static final long PAGE_BYTES = 4096;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private @Nullable Registration registration;

    Slab(long bytes) {
        memory = arena.allocate(bytes, PAGE_BYTES);
    }

    void registered(Registration made) {
        registration = made;
    }

    /** The memory. */
    public MemorySegment memory() {
        return memory;
    }

    /** The address of its first byte. */
    public long address() {
        return memory.address();
    }

    /** The descriptor for operations; 0 if the provider asks for none. */
    public long descriptor() {
        Registration made = registration;
        return made == null ? 0 : made.descriptor();
    }

    /** The key for peers. */
    public long key() {
        Registration made = registration;
        if (made == null) {
            throw new IllegalStateException("the slab is not registered for peers");
        }
        return made.key();
    }

    void closeRegistration() {
        Registration made = registration;
        if (made != null) {
            registration = null;
            made.close();
        }
    }

    @Override
    public void close() {
        closeRegistration();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
