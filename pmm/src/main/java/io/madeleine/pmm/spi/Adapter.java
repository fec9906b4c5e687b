package io.madeleine.pmm.spi;

import java.util.Optional;

/**
 * One network interface, or one shared memory, that a driver controls ({@code mad_adapter_t}). A session may open and
 * close adapters while it lives.
 *
 * <p>Threading: control path; the session serialises the calls. The engine drives {@link #progress()}.
 */
public interface Adapter extends AutoCloseable {
    /** The adapter's name, as the configuration spells it. */
    String name();

    /**
     * Text of at most 1 KiB that tells a peer's adapter of the same family how to reach this one. It travels on the
     * process's card. The peer must not trust it.
     */
    String address();

    /** Returns why this adapter cannot reach the peer with this address; empty if the address shows no obstacle. */
    Optional<String> unreachable(String peerAddress);

    /** Opens this adapter's part of a channel. */
    ProtocolChannel openChannel(String channelName);

    /** The source that the engine polls for all channels and connections of this adapter. */
    ProgressSource progress();

    /** Where this process takes memory that peers of this adapter can reach; empty if the adapter has none. */
    default Optional<MemorySource> memorySource() {
        return Optional.empty();
    }

    /** One-sided access to memory of peers; empty if the adapter has none. */
    default Optional<RemoteMemory> remoteMemory() {
        return Optional.empty();
    }

    /**
     * Closes what is still open, revokes the peers' access to memory, and frees all resources. Idempotent; the engine
     * does not poll the adapter after this call.
     */
    @Override
    void close();
}
