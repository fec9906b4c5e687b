package io.madeleine.tm.via.port;

import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Registration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A provider that chooses the keys of registrations ({@code FI_MR_PROV_KEY}), as those of hardware do, for tests: it
 * counts, and refuses a key of the caller.
 *
 * <p>Threading: thread-safe.
 */
final class ChosenKeys implements KeyedRegistrar {
    private static final long FIRST = 0x1001;
    private static final long STEP = 0x101;

    private final KeyedRegistrar provider;
    private final AtomicLong next = new AtomicLong(FIRST);

    ChosenKeys(KeyedRegistrar provider) {
        this.provider = provider;
    }

    @Override
    public Registration register(long address, long bytes, long access, long wantedKey) {
        if (wantedKey != 0) {
            throw new FabricException(0, "the provider chooses the keys: expected 0, found " + wantedKey);
        }
        return provider.register(address, bytes, access, next.getAndAdd(STEP));
    }
}
