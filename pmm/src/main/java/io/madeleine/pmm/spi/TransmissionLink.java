package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;

/**
 * A transmission module at work on one connection ({@code mad_link_t}): packets go in at one end and come out at the
 * other, in order, with their headers and lengths. Nothing here waits, and nothing allocates in steady state.
 *
 * <p>This is the receiving half, the same for all; {@link StaticLink} and {@link DynamicLink} are the two ways to send. A
 * {@link PostingLink} can do more, which is not asked of others. The links of a connection need not keep an order among each
 * other.
 *
 * <p>Receiving is: look at {@link #front()}; if there is a packet, take its payload by {@link #receive} in as many parts
 * as liked, or {@link #skip} it; then {@link #release()} it. A packet's payload may arrive bit by bit after its header.
 *
 * <p>Should memory be short, {@link #front()} and {@link #receive} may throw an {@link OutOfMemoryError} and are called again: the
 * packet stays in front, and the group says what has been taken of it. A link that lacks memory for anything else says that it
 * could not move anything, if that is true; what it throws costs the connection.
 *
 * <p>Threading: one thread at a time for the receiving half and one for the sending half.
 */
public sealed interface TransmissionLink permits StaticLink, DynamicLink {
    /** What the module is and can do, with the agreed threshold. */
    TransmissionCapabilities capabilities();

    /**
     * The header of the packet in front, as its sender gave it, or 0 if none has arrived, or {@link LinkStatus#CLOSED}
     * if none will. It stays in front until it is released. A header that is not {@linkplain PacketHeader#isValid
     * valid} never comes up: the link breaks the connection instead.
     */
    long front();

    /**
     * Moves payload of the packet in front into the group, which keeps the account of what it still wants; the paper's
     * {@code receive_sub_buffer_group}, and {@code receive_buffer} for a group of one.
     *
     * @param maxBytes an upper bound, not above what is left of the packet's payload
     * @return how many bytes were moved; 0 if none has arrived yet
     * @throws IllegalStateException if memory of the group has been freed ({@link WrongThreadException} if it is another
     *     thread's); the group says how far it came, which is what has been taken of the packet
     */
    long receive(BufferGroup group, long maxBytes);

    /**
     * Moves payload of the packet in front into a block if all that it wants is there: the short way for small blocks, past
     * the accounts of a group.
     *
     * @param bytes how many bytes, at least 1 and not above what is left of the packet's payload
     * @return whether the block was filled; if not, nothing was taken, and {@link #receive} is the way
     * @throws IllegalStateException as {@link #receive}; nothing was taken then
     */
    default boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        return false;
    }

    /**
     * Drops payload of the packet in front.
     *
     * @param maxBytes an upper bound, not above what is left of the packet's payload
     * @return how many bytes were dropped; 0 if none has arrived yet
     */
    long skip(long maxBytes);

    /** Lets go of the packet in front, whose payload has been received or skipped to its end, and of its buffer. */
    void release();
}
