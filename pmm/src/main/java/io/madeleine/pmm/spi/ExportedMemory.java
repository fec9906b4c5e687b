package io.madeleine.pmm.spi;

/**
 * Memory of this process that peers can reach.
 *
 * <p>Threading: thread-safe.
 */
public interface ExportedMemory extends AutoCloseable {
    /** What a peer needs to attach it: at most {@link RemoteMemory#MAX_DESCRIPTOR_BYTES}, of which it cannot make another. */
    byte[] descriptor();

    /**
     * Revokes it: waits until no operation of a peer is under way on it, or for so long, after which operations fail. Idempotent.
     *
     * @return whether none was under way any more. If not, one whose process has stopped in the midst of it may still take
     *     effect when that goes on: the memory is better freed than used again.
     */
    boolean revoke(long timeoutNs);

    /** Revokes it without waiting. */
    @Override
    void close();
}
