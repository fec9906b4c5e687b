package io.madeleine.pmm.spi;

/** A link that sends the user's blocks themselves (paper, Table 2, {@code send_buffer} and {@code send_buffer_group}). */
public non-sealed interface DynamicLink extends TransmissionLink {
    /**
     * Sends one packet: the header, then all that remains of the group; a single buffer is a group of one, and an empty
     * group sends the header alone. After it, if {@code trailer} is not 0, an empty packet with that header, in the
     * same gather where the network has one: most messages end like that. The link takes what it can and advances the
     * group.
     *
     * <p>Ownership: the group's memory is lent until the answer is {@link LinkStatus#COMPLETE}, and of a {@link PostingLink}
     * until it {@linkplain PostingLink#holdsMemory() holds} none; while the answer is
     * {@link LinkStatus#PENDING} the call has to be repeated with the same header and group. As long as the group is
     * not empty, its memory and the trailer may be exchanged for others between two calls (that is how a message whose
     * memory is lost is aborted), but not the number of bytes.
     *
     * @param header the packet's header; its payload length is the group's size at the first call
     * @param trailer the header of an empty packet to follow, or 0 for none
     * @return {@link LinkStatus#COMPLETE}, {@link LinkStatus#PENDING} or {@link LinkStatus#CLOSED}
     * @throws IllegalStateException if memory of the group has been freed ({@link WrongThreadException} if it is another
     *     thread's); the packet stays under way, the group says how far it came
     */
    int send(long header, BufferGroup group, long trailer);
}
