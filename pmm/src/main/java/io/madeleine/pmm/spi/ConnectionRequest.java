package io.madeleine.pmm.spi;

import java.util.List;

/**
 * A request to connect two processes; each end makes one.
 *
 * @param peer the process at the other end
 * @param peerAddress the peer's {@link Adapter#address()}
 * @param initiator true at exactly one end: the initiator creates or calls, the other end maps or accepts
 * @param modules the transmission modules and thresholds that both ends agreed on, in order; the connection has one
 *     link for each
 * @param tableDigest the digest of the agreed selection table; the handshake compares both ends' digests
 * @param deadlineNs when the attempt fails, in {@link System#nanoTime()} terms
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
