package io.madeleine.pmm.spi;

import io.madeleine.api.LossKind;

/**
 * Receives the upcalls of one connection; there is no other way up.
 *
 * <p>Threading: the thread that polls calls {@link #onReadable}, never from within a call of a link. Any thread may
 * call {@link #onLost}, also from within a call of a link: the listener only records the loss, and the thread that
 * polls handles it later.
 */
public interface ConnectionListener {
    /**
     * Data may have arrived. The listener takes the receive lock if it is free, and reads the links.
     *
     * @return how many packets or blocks were moved; 0 if none
     */
    int onReadable();

    /**
     * The connection will bring only what has arrived already. The connection calls this at least once when the peer
     * finishes, dies or violates the protocol, or when the network fails; the listener ignores repeated calls.
     *
     * @param kind what is lost, and no more than is known: the connection, if the peer may still be alive. When an
     *     adapter is lost, each of its connections reports it
     * @param orderly whether the peer {@linkplain ProtocolConnection#finish() finished} of its own will
     * @param reason what was observed, as a clause: "its process ended", "the connection was reset"
     */
    void onLost(LossKind kind, boolean orderly, String reason);
}
