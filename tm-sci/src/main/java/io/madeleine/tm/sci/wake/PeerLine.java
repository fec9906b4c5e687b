package io.madeleine.tm.sci.wake;

import io.madeleine.tm.sci.files.FileStem;
import java.util.function.BooleanSupplier;

/**
 * What a connection needs of the process at its other end: its inbox and the line to its doorbell.
 *
 * <p>Threading: thread-safe.
 */
public interface PeerLine {
    /** The prefix of the process's file names. */
    FileStem stem();

    /** Whether the process has ended. */
    boolean isGone();

    /**
     * Sets the flag of a slot in the peer's inbox, and wakes the peer if it sleeps. The caller has passed a full fence.
     */
    void announce(int slot);

    /**
     * Sets the flag only; returns the number of the sleep from which the caller has to {@linkplain #ring wake} the
     * peer, or 0.
     */
    long announceSilently(int slot);

    /**
     * Wakes the peer from the sleep with that number, unless a thread of the peer reads everything within a moment.
     *
     * @param isAllRead whether the peer has read what was announced
     */
    void ring(long sleep, BooleanSupplier isAllRead);

    /**
     * Checks whether the peer's inbox was cut short, so that nobody can wake the peer; if so, gives up the connections
     * to it.
     */
    boolean lookAtInbox();
}
