package io.madeleine.tm.via.port;

import io.madeleine.tm.via.ffi.Registration;

/**
 * Registers memory with a provider.
 *
 * <p>Threading: thread-safe.
 */
@FunctionalInterface
interface KeyedRegistrar {
    /**
     * Registers memory.
     *
     * @param access how the endpoint and its peers use it
     * @param wantedKey the key for peers; 0 if the provider chooses it
     * @throws io.madeleine.tm.via.ffi.FabricException if that fails
     */
    Registration register(long address, long bytes, long access, long wantedKey);
}
