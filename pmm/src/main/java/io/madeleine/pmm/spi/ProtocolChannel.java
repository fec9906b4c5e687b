package io.madeleine.pmm.spi;

import java.util.concurrent.CompletableFuture;

/**
 * An adapter's part of a channel ({@code mad_channel_t}): the connections made for it belong to it alone.
 *
 * <p>Threading: control path; calls are serialised by the session.
 */
public interface ProtocolChannel extends AutoCloseable {
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
