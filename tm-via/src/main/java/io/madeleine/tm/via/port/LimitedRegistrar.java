package io.madeleine.tm.via.port;

import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.ffi.Registration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A provider for tests that registers a limited number of bytes for writes, and then no more.
 *
 * <p>Threading: thread-safe.
 */
final class LimitedRegistrar implements KeyedRegistrar {
    private final KeyedRegistrar provider;
    private final AtomicLong leftBytes;

    LimitedRegistrar(KeyedRegistrar provider, long bytes) {
        this.provider = provider;
        this.leftBytes = new AtomicLong(bytes);
    }

    @Override
    public Registration register(long address, long bytes, long access, long wantedKey) {
        boolean counts = (access & (Flags.FI_WRITE | Flags.FI_REMOTE_WRITE)) != 0;
        if (counts && leftBytes.addAndGet(-bytes) < 0) {
            leftBytes.addAndGet(bytes);
            throw new FabricException(0, "no more memory can be registered, as a test");
        }
        return provider.register(address, bytes, access, wantedKey);
    }
}
