package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.TransmissionLink;

/**
 * What a connection asks of its links beyond the SPI.
 *
 * <p>Threading: any thread; the answers may be late, but are right once the link is quiet.
 */
interface SciLink {
    /** Whether there is something to read. */
    boolean hasNews();

    /** As {@link #hasNews()}, at a glance: the answer may be wrong while another thread reads. */
    default boolean mayHaveNews() {
        return hasNews();
    }

    /** Whether a send that was refused would get on now. */
    boolean hasRoom();

    /** Lets go of memory that is of no use any more; ten times a second. */
    default void tidy() {}

    /** Lets go of what it has of the peer's beyond the segment; after the last call. */
    default void free() {}

    /** The link itself. */
    TransmissionLink link();
}
