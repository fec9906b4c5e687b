package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.TransmissionLink;

/**
 * What a connection asks of its links beyond the SPI.
 *
 * <p>Threading: any thread. While another thread uses the link, an answer may be out of date; it is right once the link
 * is quiet.
 */
interface SciLink {
    /** Whether there is data to read. */
    boolean isReadable();

    /** As {@link #isReadable()}, but cheaper: the answer may be wrong while another thread reads. */
    default boolean mayBeReadable() {
        return isReadable();
    }

    /** Whether a send that was {@link io.madeleine.pmm.spi.LinkStatus#PENDING} would move data now. */
    boolean hasRoom();

    /** Releases peer memory that is no longer of use. Called ten times a second, or less often if idle. */
    default void tidy() {}

    /** Releases what the link has mapped of the peer beyond the segment. No other call follows. */
    default void free() {}

    /** This link, as the layer above sees it. */
    TransmissionLink link();
}
