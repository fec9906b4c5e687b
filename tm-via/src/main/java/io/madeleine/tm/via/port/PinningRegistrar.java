package io.madeleine.tm.via.port;

import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.PageLock;
import io.madeleine.tm.via.ffi.Registration;

/**
 * A provider that pins what it registers, as those of hardware do, by locking the pages: it shows on any host what
 * registrations cost.
 *
 * <p>Threading: thread-safe.
 */
final class PinningRegistrar implements KeyedRegistrar {
    private final KeyedRegistrar provider;

    PinningRegistrar(KeyedRegistrar provider) {
        this.provider = provider;
    }

    @Override
    public Registration register(long address, long bytes, long access, long wantedKey) {
        PageLock.lock(address, bytes);
        try {
            return provider.register(address, bytes, access, wantedKey).pinned(address, bytes);
        } catch (FabricException e) {
            PageLock.unlock(address, bytes);
            throw e;
        }
    }
}
