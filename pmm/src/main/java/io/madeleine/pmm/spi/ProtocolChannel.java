package io.madeleine.pmm.spi;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * An adapter's part of a channel ({@code mad_channel_t}). Its connections belong to this channel alone.
 *
 * <p>Threading: control path; the session serialises the calls.
 */
public interface ProtocolChannel extends AutoCloseable {
    /**
     * Reserves what a connection needs and this process may lack, such as memory. The session calls this before either
     * end connects, so that both ends can still choose another network. For each request that was answered with empty,
     * {@link #connect} follows with the same request, or {@link #close()}.
     *
     * @param request the initiator's request
     * @return what is lacking and how to mend it; empty if nothing is lacking
     */
    default Optional<String> reserve(ConnectionRequest request) {
        return Optional.empty();
    }

    /**
     * Begins to connect to a peer, which does the same at its end. Returns at once; the future completes while the
     * engine makes progress. If the connection fails, the future has a {@link io.madeleine.api.MadeleineException} that
     * says which end found what. Both ends compare the digests of their selection tables and refuse a difference.
     */
    CompletableFuture<ProtocolConnection> connect(ConnectionRequest request);

    /** Cancels pending connections and closes the others. Idempotent. */
    @Override
    void close();
}
