package io.madeleine.pmm.spi;

import java.util.Optional;

/**
 * One network interface, or one shared memory, that a driver controls ({@code mad_adapter_t}). Adapters come and go
 * while the session lives.
 *
 * <p>Threading: control path; calls are serialised by the session. {@link #progress()} is driven by the engine.
 */
public interface Adapter extends AutoCloseable {
    /** The adapter's name, as in configuration. */
    String name();

    /**
     * What a peer's adapter of the same family needs to reach this one, as text of at most 1 KiB. It travels in the
     * process's card and may not be trusted by its reader.
     */
    String address();

    /** Why the peer with this address cannot be reached, or empty if it can as far as addresses tell. */
    Optional<String> unreachable(String peerAddress);

    /** Opens this adapter's part of a channel. */
    ProtocolChannel openChannel(String channelName);

    /** What the engine polls for all channels and connections of this adapter. */
    ProgressSource progress();

    /** Memory of this process that peers of this adapter can reach, if there is such. */
    default Optional<MemorySource> memorySource() {
        return Optional.empty();
    }

    /** How peers reach memory of each other, if they can. */
    default Optional<RemoteMemory> remoteMemory() {
        return Optional.empty();
    }

    /** Closes what is still open, revokes what peers may write to, frees. Idempotent; called after the last poll. */
    @Override
    void close();
}
