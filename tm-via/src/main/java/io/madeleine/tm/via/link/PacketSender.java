package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.PostingLink;

/**
 * The sending half of a {@link ViaPacketLink}.
 *
 * <p>Threading: one thread at a time.
 */
interface PacketSender {
    /** As {@link DynamicLink#send}. */
    int send(long header, BufferGroup group, long trailer);

    /** As {@link PostingLink#holdsMemory}. */
    boolean holdsMemory();
}
