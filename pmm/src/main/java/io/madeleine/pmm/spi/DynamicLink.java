package io.madeleine.pmm.spi;

/**
 * A link that sends the user's blocks without a copy (paper, Table 2, {@code send_buffer}, {@code send_buffer_group}).
 */
public non-sealed interface DynamicLink extends TransmissionLink {
    /**
     * Sends one packet: the header, then the rest of the group. A single buffer is a group of one; an empty group sends
     * the header alone. If {@code trailer} is not 0, the link sends an empty packet with that header after it, in the
     * same gather operation where the network has one: most messages end like that. The link takes as much as it can
     * and advances the group.
     *
     * <p>Ownership: the group's memory is lent until the result is {@link LinkStatus#COMPLETE}, and with a {@link
     * PostingLink} until it {@linkplain PostingLink#holdsMemory() holds} none. While the result is {@link
     * LinkStatus#PENDING}, the caller repeats the call with the same header and group. As long as the group is not
     * empty, the caller may replace its memory and the trailer between two calls, but must keep the number of bytes; it
     * aborts a message that way when the message's memory is lost.
     *
     * @param header the packet's header; its payload length is the group's size at the first call
     * @param trailer the header of an empty packet to follow, or 0 for none
     * @return {@link LinkStatus#COMPLETE}, {@link LinkStatus#PENDING} or {@link LinkStatus#CLOSED}
     * @throws IllegalStateException if memory of the group has been freed ({@link WrongThreadException} if it belongs
     *     to another thread); the packet stays under way, and the group says how much of it was sent
     */
    int send(long header, BufferGroup group, long trailer);
}
