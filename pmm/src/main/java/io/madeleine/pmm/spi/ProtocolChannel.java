package io.madeleine.pmm.spi;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * An adapter's part of a channel ({@code mad_channel_t}): the connections made for it belong to it alone.
 *
 * <p>Threading: control path; calls are serialised by the session.
 */
public interface ProtocolChannel extends AutoCloseable {
    /**
     * Takes what a connection needs of this process that may not be there, such as memory, before anybody connects: where
     * something is lacking, both ends can still take another network. {@link #connect} follows with the same request, of
     * all that were answered with nothing, or {@link #close()}.
     *
     * @param request of the initiator
     * @return what is lacking, and how to mend that; empty if nothing is
     */
    default Optional<String> reserve(ConnectionRequest request) {
        return Optional.empty();
    }

    /**
     * Begins to connect to a peer, which does the same from its side. Returns at once: the future completes while the
     * engine makes progress, exceptionally with a {@link io.madeleine.api.MadeleineException} that says which side
     * found what. The two sides compare their digests of the selection table and refuse an unequal one.
     */
    CompletableFuture<ProtocolConnection> connect(ConnectionRequest request);

    /** Gives up connections that are not made yet, and closes the others. Idempotent. */
    @Override
    void close();
}
