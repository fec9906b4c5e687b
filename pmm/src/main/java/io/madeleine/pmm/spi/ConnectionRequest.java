package io.madeleine.pmm.spi;

import java.util.List;

/**
 * A wish to connect, made by both ends.
 *
 * @param peer who is at the other end
 * @param peerAddress what the peer's {@link Adapter#address()} says
 * @param initiator true at exactly one end: that one creates or calls, the other maps or accepts
 * @param modules the transmission modules both ends agreed on, in order, the thresholds agreed too; the connection has
 *     one link for each
 * @param tableDigest the digest of the agreed selection table, to be compared
 * @param deadlineNs when to give up, in {@link System#nanoTime()} terms
 */
public record ConnectionRequest(
        ProcessIdentity peer,
        String peerAddress,
        boolean initiator,
        List<TransmissionCapabilities> modules,
        long tableDigest,
        long deadlineNs) {
    /** Copies the list. */
    public ConnectionRequest {
        modules = List.copyOf(modules);
    }
}
