package io.madeleine.tm.via.link;

/**
 * The sizes of via/rdma.
 *
 * <p>Threading: immutable.
 *
 * @param fromBytes the smallest block that takes the module; {@link Long#MAX_VALUE} if there is none
 * @param chunkBytes the longest write, and the size of the buffers through which other memory goes
 * @param firstChunkBytes the first write where no registration is kept; those that follow grow up to a chunk
 * @param grants how many grants a receiver keeps outstanding
 * @param headers how many packets may be under way
 * @param keptBytes how many bytes of the session's memory stay registered, in each direction, though nobody uses them
 * @param keptCount how many registrations of the session's memory stay, in each direction
 * @param trustsNative whether native memory that is not the session's is registered in place too
 */
public record RdmaSizes(
        long fromBytes,
        int chunkBytes,
        int firstChunkBytes,
        int grants,
        int headers,
        long keptBytes,
        int keptCount,
        boolean trustsNative) {
    /** Whether the module is offered. */
    public boolean isOn() {
        return fromBytes != Long.MAX_VALUE;
    }
}
