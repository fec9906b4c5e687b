package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * A transmission module at work on one connection ({@code mad_link_t}): packets enter at one end and leave at the
 * other, in order, with their headers and lengths. No call waits, and none allocates in steady state.
 *
 * <p>This interface is the receiving half, which all links share; {@link StaticLink} and {@link DynamicLink} are the
 * two ways to send, {@link PostingLink} is optional. The links of a connection keep no order among each other.
 *
 * <p>To receive, call {@link #front()}; if there is a packet, take its payload by {@link #receive} in any number of
 * parts, or {@link #skip} it; then {@link #release()} it. The payload of a packet may arrive in pieces after its
 * header.
 *
 * <p>If heap memory is short, {@link #front()} and {@link #receive} may throw an {@link OutOfMemoryError}; the caller
 * repeats the call, because the packet stays in front and the group says what has been taken of it. A link that lacks
 * memory elsewhere reports that it moved nothing, if that is true; if it throws, the caller gives up the connection.
 *
 * <p>Threading: one thread at a time for the receiving half and one for the sending half.
 */
public sealed interface TransmissionLink permits StaticLink, DynamicLink {
    /** The module's properties, with the agreed thresholds. */
    TransmissionCapabilities capabilities();

    /**
     * The header of the packet in front, as its sender gave it; 0 if no packet has arrived; {@link LinkStatus#CLOSED}
     * if no more will arrive. The packet stays in front until it is released. The link never returns a header that is
     * not {@linkplain PacketHeader#isValid valid}: it breaks the connection instead.
     */
    long front();

    /**
     * Moves payload of the packet in front into the group and advances the group (paper: {@code
     * receive_sub_buffer_group}, and {@code receive_buffer} for a group of one).
     *
     * @param maxBytes an upper bound, at most the rest of the packet's payload
     * @return how many bytes were moved; 0 if none has arrived yet
     * @throws IllegalStateException if memory of the group has been freed ({@link WrongThreadException} if it belongs
     *     to another thread); the group says how many bytes of the packet have been taken
     */
    long receive(BufferGroup group, long maxBytes);

    /**
     * Moves payload of the packet in front into a block if all the requested bytes have arrived: the fast path for
     * small blocks, without a group.
     *
     * @param bytes how many bytes, at least 1 and at most the rest of the packet's payload
     * @return whether the block was filled; if not, nothing was taken, and the caller uses {@link #receive}
     * @throws IllegalStateException as for {@link #receive}; nothing has been taken then
     */
    default boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        return false;
    }

    /**
     * Drops payload of the packet in front.
     *
     * @param maxBytes an upper bound, at most the rest of the packet's payload
     * @return how many bytes were dropped; 0 if none has arrived yet
     */
    long skip(long maxBytes);

    /** Releases the packet in front, whose whole payload has been received or skipped, and its buffer. */
    void release();
}
