package io.madeleine.pmm.spi;

/**
 * What a {@link RemoteMemory} can do.
 *
 * <p>Threading: immutable.
 *
 * @param immediate whether an operation is complete when the call that begins it returns
 * @param ordered whether operations of one thread on one attachment take effect in the order in which they begin
 * @param atomics whether words can be updated atomically
 * @param atomicWithOwner whether peers' updates of a word are atomic with the owner's VarHandle updates of it
 * @param maxTransferBytes the longest put or get
 */
public record RemoteMemoryCapabilities(
        boolean immediate, boolean ordered, boolean atomics, boolean atomicWithOwner, long maxTransferBytes) {}
