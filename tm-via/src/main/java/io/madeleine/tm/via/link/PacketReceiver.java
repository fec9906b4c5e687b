package io.madeleine.tm.via.link;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PostingLink;
import org.jspecify.annotations.Nullable;

/**
 * The receiving half of a {@link ViaPacketLink}.
 *
 * <p>Threading: one thread at a time.
 */
interface PacketReceiver {
    /** The header of the packet in front; 0 if there is none. */
    long front();

    /** Takes payload into the group, or drops it if there is none; returns how many bytes that was. */
    long take(@Nullable BufferGroup group, long maxBytes);

    /** The packet in front has been received. */
    void release();

    /** As {@link PostingLink#expect}. */
    void expect(BufferGroup blocks);

    /** As {@link PostingLink#retract}. */
    int retract();
}
