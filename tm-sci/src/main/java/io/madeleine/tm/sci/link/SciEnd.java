package io.madeleine.tm.sci.link;

import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;

/**
 * What the links of a connection have in common: how they find the front packet, and how they say that a send waits.
 *
 * <p>Threading: as {@link TransmissionLink} says; {@link SciLink}'s queries by any thread.
 */
abstract sealed class SciEnd implements SciLink permits SciShortLink, SciCellLink {
    final SciConnection connection;
    final TransmissionCapabilities capabilities;
    private final int index;
    private boolean stalled;

    SciEnd(SciConnection connection, int index, TransmissionCapabilities capabilities) {
        this.connection = connection;
        this.index = index;
        this.capabilities = capabilities;
    }

    /** {@link TransmissionLink#capabilities}. */
    public final TransmissionCapabilities capabilities() {
        return capabilities;
    }

    // ---- sending

    /** Whether the last attempt to send found no room. */
    final boolean isStalled() {
        return stalled;
    }

    /** Notes whether a send waits for room; the connection's next poll then looks for it. */
    final void setStalled(boolean now) {
        if (stalled != now) {
            stalled = now;
            connection.setStalled(index, now);
        }
    }

    // ---- receiving

    /** The header in front, 0 if there is none, or a negative value if what is there is no packet. */
    abstract long frontHeader();

    /** Breaks the connection if what is in front is no packet. */
    abstract void breakUpIfBroken();

    /** {@link TransmissionLink#front}. */
    public final long front() {
        if (connection.isClosed()) {
            return LinkStatus.CLOSED;
        }
        try {
            long header = frontHeader();
            return header > 0 || header == 0 && !connection.isReceiveEnded() ? header : frontSlowPath(header);
        } catch (InternalError e) {
            if (connection.isCutOff()) {
                return LinkStatus.CLOSED;
            }
            throw e;
        }
    }

    private long frontSlowPath(long found) {
        long header = found == 0 ? frontHeader() : found; // a packet that came before the end counts
        if (header > 0) {
            return header;
        }
        breakUpIfBroken();
        return LinkStatus.CLOSED;
    }
}
