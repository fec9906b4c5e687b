package io.madeleine.pmm.spi;

/**
 * What a {@link RemoteMemory} can do.
 *
 * <p>Threading: immutable.
 *
 * @param immediate whether an operation is complete when the call returns that begins it
 * @param ordered whether operations of one thread on one attachment take effect in the order in which they are begun
 * @param atomicWithOwner whether what the owner does to a word atomically by itself, with a VarHandle, is atomic to peers, too
 * @param maxTransferBytes the most that one put or get moves
 */
public record RemoteMemoryCapabilities(
        boolean immediate, boolean ordered, boolean atomicWithOwner, long maxTransferBytes) {}
