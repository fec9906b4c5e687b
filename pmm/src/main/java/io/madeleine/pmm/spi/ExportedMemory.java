package io.madeleine.pmm.spi;

/**
 * Memory of this process that peers can access.
 *
 * <p>Threading: thread-safe.
 */
public interface ExportedMemory extends AutoCloseable {
    /**
     * The descriptor with which a peer attaches the memory, of at most {@link RemoteMemory#MAX_DESCRIPTOR_BYTES} bytes.
     * A peer cannot forge another.
     */
    byte[] descriptor();

    /**
     * Revokes the export: operations that a peer begins once it has heard of this fail. Waits until all peers have
     * heard and no operation is under way, but at most for the timeout. Idempotent.
     *
     * @return whether no operation can take effect any more. If false, a peer has not answered, perhaps because it is
     *     stopped: what it has begun, or begins before it hears of the revocation, may still take effect. Free the
     *     memory rather than reuse it.
     */
    boolean revoke(long timeoutNs);

    /** Revokes the export without waiting. */
    @Override
    void close();
}
