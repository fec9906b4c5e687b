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
     * Revokes the export: operations that begin after this fail. Waits until no peer's operation is under way, but at
     * most for the timeout. Idempotent.
     *
     * @return whether no operation is under way any more. If false, an operation of a peer that was stopped in its
     *     middle may still take effect when that peer continues: free the memory rather than reuse it.
     */
    boolean revoke(long timeoutNs);

    /** Revokes the export without waiting. */
    @Override
    void close();
}
